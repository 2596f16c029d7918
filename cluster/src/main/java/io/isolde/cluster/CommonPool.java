// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import java.util.Optional;

/**
 * The threads of Java's common pool. With one or two processors it has a single one, and then
 * {@link java.util.concurrent.CompletableFuture} starts a thread for each asynchronous step
 * instead: with Ratis, one for each entry that a follower gets.
 */
public final class CommonPool {
  private static final int PROCESSORS_WITHOUT_POOL = 2;

  private CommonPool() {}

  /** Returns the option of Java that keeps a process on this machine from that, if it takes one. */
  public static Optional<String> jvmOption() {
    return jvmOption(Runtime.getRuntime().availableProcessors());
  }

  static Optional<String> jvmOption(int processors) {
    return processors > PROCESSORS_WITHOUT_POOL
        ? Optional.empty()
        : Optional.of("-Djava.util.concurrent.ForkJoinPool.common.parallelism=2");
  }
}
