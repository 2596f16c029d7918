// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class IsoldeExceptionTest {
  @Test
  void whenADriverErrorHasATrailerThenItIsFoundAmongTheCauses() {
    RuntimeException error = new IllegalStateException("mapper failed", FakeNode.conflict());

    assertThat(IsoldeException.find(error))
        .hasValueSatisfying(found -> assertThat(found.code()).isEqualTo(ErrorCode.CONFLICT));
  }

  @Test
  void whenADriverErrorCollectsThoseOfNodesThenTheirTrailerIsFound() {
    RuntimeException error =
        AllNodesFailedException.fromErrors(List.of(Map.entry(FakeNode.NODE, FakeNode.conflict())));

    assertThat(IsoldeException.find(error))
        .hasValueSatisfying(found -> assertThat(found).hasCause(error));
  }

  @Test
  void whenTheErrorIsNotFromIsoldeThenNoneIsFound() {
    assertThat(IsoldeException.find(FakeNode.timeout())).isEmpty();
    assertThat(IsoldeException.find(new IOException("disk full"))).isEmpty();
  }

  @Test
  void whenAnErrorIsSerializedThenItsDetailsAreKept() throws Exception {
    IsoldeException error = DriverErrors.requestFailed(new IOException("gone"), UUID.randomUUID());
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    new ObjectOutputStream(bytes).writeObject(error);

    Object copy = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();

    assertThat(((IsoldeException) copy).details()).isEqualTo(error.details());
  }
}
