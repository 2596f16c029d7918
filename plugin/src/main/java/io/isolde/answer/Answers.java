// SPDX-License-Identifier: Apache-2.0
package io.isolde.answer;

import com.google.common.base.Throwables;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.cassandra.utils.concurrent.OpOrder;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/** Answers that are there or come later. */
public final class Answers {
  private Answers() {}

  /** Waits for an answer, on a thread that may wait. Fails as the answer does. */
  public static <T> T await(CompletableFuture<T> answer) {
    try {
      return answer.get();
    } catch (ExecutionException e) {
      Throwables.throwIfUnchecked(e.getCause());
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  /** Why an answer failed, as {@link #await} throws it. */
  public static Throwable cause(Throwable failure) {
    return failure instanceof CompletionException && failure.getCause() != null
        ? failure.getCause()
        : failure;
  }

  /** Runs a statement, and closes its group with the answer, also if there will be none. */
  public static <T> CompletableFuture<T> within(
      OpOrder.Group group, Supplier<CompletableFuture<T>> statement) {
    CompletableFuture<T> answer;
    try {
      answer = statement.get();
    } catch (RuntimeException | Error e) {
      group.close();
      throw e;
    }
    if (answer.isDone()) {
      group.close();
      return answer;
    }
    return answer.whenComplete((done, failure) -> group.close());
  }

  /** Whether a step was done in time. If it fails, it goes on in the background, as a late one. */
  public static CompletableFuture<Boolean> inTime(CompletableFuture<?> step, long timeoutMillis) {
    CompletableFuture<Boolean> isDone = step.handle((done, failure) -> failure == null);
    return isDone.isDone()
        ? isDone
        : isDone.completeOnTimeout(false, timeoutMillis, TimeUnit.MILLISECONDS);
  }
}
