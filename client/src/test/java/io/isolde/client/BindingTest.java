// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchType;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class BindingTest {
  private static final UUID ID = UUID.fromString("11111111-2222-4333-8444-555555555555");
  private static final Binding BINDING = new Binding(ID, FakeNode.NODE);
  private static final SimpleStatement SELECT = SimpleStatement.newInstance("SELECT 1");

  @Test
  void whenAStatementIsBoundThenItNamesTheTransactionAndGoesToItsNodeOnce() {
    Statement<?> bound = BINDING.bind(SELECT.setIdempotent(true));

    assertThat(text(bound, Binding.PAYLOAD_KEY)).isEqualTo(ID.toString());
    assertThat(bound.getNode()).isSameAs(FakeNode.NODE);
    assertThat(bound.isIdempotent()).isFalse();
  }

  @Test
  void whenABatchIsBoundThenItIsAsAWhole() {
    Statement<?> bound = BINDING.bind(BatchStatement.newInstance(BatchType.LOGGED, SELECT));

    assertThat(Binding.isBound(bound, ID)).isTrue();
    assertThat(bound.getNode()).isSameAs(FakeNode.NODE);
  }

  @Test
  void whenAStatementHasAPayloadThenItIsKept() {
    Map<String, ByteBuffer> own =
        Map.of("trace", ByteBuffer.wrap("x".getBytes(StandardCharsets.US_ASCII)));

    Statement<?> bound = BINDING.bind(SELECT.setCustomPayload(own));

    assertThat(text(bound, "trace")).isEqualTo("x");
    assertThat(text(bound, Binding.PAYLOAD_KEY)).isEqualTo(ID.toString());
  }

  @Test
  void whenAStatementOfAnotherTransactionIsBoundThenItChangesOver() {
    Statement<?> other = new Binding(UUID.randomUUID(), FakeNode.NODE).bind(SELECT);

    assertThat(Binding.isBound(other, ID)).isFalse();
    assertThat(Binding.isBound(BINDING.bind(other), ID)).isTrue();
  }

  @Test
  void whenTheDriverCopiesAStatementForTheNextPageThenItStaysBound() {
    Statement<?> next = BINDING.bind(SELECT).copy(ByteBuffer.allocate(4));

    assertThat(Binding.isBound(next, ID)).isTrue();
    assertThat(next.getNode()).isSameAs(FakeNode.NODE);
    assertThat(next.isIdempotent()).isFalse();
  }

  @Test
  void whenAStatementIsPinnedToAnotherNodeThenItIsRefused() {
    assertThatThrownBy(() -> BINDING.bind(SELECT.setNode(FakeNode.OTHER_NODE)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("pinned to node node-2")
        .hasMessageContaining("held by node node-1");
  }

  @Test
  void whenAStatementHasNoPayloadThenItIsNotBound() {
    assertThat(Binding.isBound(SELECT, ID)).isFalse();
  }

  private static String text(Statement<?> statement, String key) {
    return StandardCharsets.US_ASCII
        .decode(statement.getCustomPayload().get(key).duplicate())
        .toString();
  }
}
