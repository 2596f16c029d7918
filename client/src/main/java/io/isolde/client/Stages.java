// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.internal.core.util.concurrent.BlockingOperation;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** What completion stages lack. */
final class Stages {
  private Stages() {}

  /** The stage the call returns; a failed one if the call throws. */
  static <T> CompletionStage<T> of(Supplier<? extends CompletionStage<T>> call) {
    try {
      return call.get();
    } catch (Throwable e) { // Other languages throw checked exceptions, too.
      return CompletableFuture.failedFuture(e);
    }
  }

  /** What a stage failed with, without the wrapper that dependent stages add. */
  static Throwable unwrapped(Throwable error) {
    return error instanceof CompletionException && error.getCause() != null
        ? error.getCause()
        : error;
  }

  /**
   * The value of the stage. Interruption does not end the wait, which the driver's request timeout
   * bounds: giving up on a COMMIT half way would make its outcome unknown.
   *
   * @throws IllegalStateException if called by a thread of the driver, which would wait for itself
   */
  static <T> T await(CompletionStage<T> stage) {
    BlockingOperation.checkNotDriverThread();
    try {
      return stage.toCompletableFuture().join();
    } catch (CompletionException e) {
      throw atCaller(unwrapped(e));
    }
  }

  /** The error with the stack of the waiting thread, where it has a copy to give. */
  private static RuntimeException atCaller(Throwable error) {
    if (error instanceof IsoldeException found) {
      return found.atCaller();
    }
    if (error instanceof DriverException found) {
      return found.copy();
    }
    if (error instanceof Error found) {
      throw found;
    }
    return error instanceof RuntimeException found ? found : new CompletionException(error);
  }
}
