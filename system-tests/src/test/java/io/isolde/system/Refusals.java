// SPDX-License-Identifier: Apache-2.0
package io.isolde.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import io.isolde.client.ErrorCode;
import io.isolde.client.IsoldeException;
import io.isolde.client.Outcome;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Errors as a client sees them: the code, and what follows from it for the client. */
public final class Refusals {

  private static final Set<ErrorCode> RETRYABLE =
      Set.of(
          ErrorCode.CONFLICT,
          ErrorCode.CONFLICT_FORGOTTEN,
          ErrorCode.SNAPSHOT_TOO_OLD,
          ErrorCode.TRANSACTION_EXPIRED,
          ErrorCode.TOO_MANY_TRANSACTIONS,
          ErrorCode.ROW_LOCKED,
          ErrorCode.TOO_MANY_WATCHES,
          ErrorCode.UNAVAILABLE,
          ErrorCode.ORACLE_OVERLOADED,
          ErrorCode.ORACLE_UNAVAILABLE,
          ErrorCode.COORDINATOR_FENCED,
          ErrorCode.SNAPSHOT_FAILED,
          ErrorCode.SNAPSHOT_UNAVAILABLE);

  private Refusals() {}

  /** Asserts that the call fails with this code and with all that the code promises. */
  public static IsoldeException assertRefused(ErrorCode code, ThrowingCallable call) {
    Throwable thrown = catchThrowable(call);
    assertThat(thrown).as("should be refused as %s", code).isNotNull();
    IsoldeException error =
        IsoldeException.find(thrown)
            .orElseThrow(() -> new AssertionError("not an error of Isolde: " + thrown, thrown));
    assertThat(error.code()).as(error.getMessage()).isEqualTo(code);
    assertThat(error.isRetryable()).as(error.getMessage()).isEqualTo(RETRYABLE.contains(code));
    assertThat(error.outcome()).as(error.getMessage()).isEqualTo(outcome(code));
    Throwable sent = thrown instanceof IsoldeException ? thrown.getCause() : thrown;
    assertThat(sent).as("the protocol's error").isInstanceOf(InvalidQueryException.class);
    return error;
  }

  private static Outcome outcome(ErrorCode code) {
    return switch (code) {
      case TRANSACTION_NOT_FOUND, CHANGE_FAILED, OUTCOME_UNKNOWN -> Outcome.UNKNOWN;
      case APPLY_PENDING -> Outcome.COMMITTED;
      default -> Outcome.NOT_COMMITTED;
    };
  }
}
