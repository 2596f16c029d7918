// SPDX-License-Identifier: Apache-2.0
package io.isolde.error;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class IsoldeExceptionTest {
  @Test
  void whenAnErrorHasDetailsThenTheTrailerHasThemEncoded() {
    IsoldeException error =
        IsoldeException.of(ErrorCode.CONFLICT, "It is so.", "table", "a.b", "key", "x y=[1],%");
    assertThat(error)
        .hasMessage(
            "It is so. [isolde code=CONFLICT retryable=true outcome=not_committed"
                + " key=x%20y%3D%5B1%5D,%25 table=a.b]");
    assertThat(error.details()).containsEntry("key", "x y=[1],%");
  }

  @Test
  void whenAnErrorIsRetryableThenItsTransactionIsCertainlyNotCommitted() {
    for (ErrorCode code : ErrorCode.values()) {
      if (code.isRetryable()) {
        assertThat(code.outcome()).as(code.name()).isEqualTo(ErrorCode.KnownOutcome.NOT_COMMITTED);
      }
    }
  }
}
