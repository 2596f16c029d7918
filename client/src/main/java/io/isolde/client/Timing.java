// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** Clock, randomness and pauses. */
interface Timing {
  /** The real ones. */
  Timing SYSTEM =
      new Timing() {
        @Override
        public long nanoTime() {
          return System.nanoTime();
        }

        @Override
        public double jitter() {
          return ThreadLocalRandom.current().nextDouble();
        }

        @Override
        public void sleep(Duration pause) throws InterruptedException {
          TimeUnit.NANOSECONDS.sleep(pause.toNanos());
        }

        @Override
        public Executor after(Duration pause) {
          return CompletableFuture.delayedExecutor(pause.toNanos(), TimeUnit.NANOSECONDS);
        }
      };

  long nanoTime();

  /** From 0 to 1. */
  double jitter();

  void sleep(Duration pause) throws InterruptedException;

  /** Runs what it is given after the pause. */
  Executor after(Duration pause);

  default Duration since(long startNanos) {
    return Duration.ofNanos(nanoTime() - startNanos);
  }
}
