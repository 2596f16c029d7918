// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.netty.channel.EventLoopGroup;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waits: of tests for what must come true, and of nodes that are as if they were suspended. */
public final class Await {
  private Await() {}

  /** Returns when it is true; fails if that takes long. */
  public static void await(BooleanSupplier condition) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new AssertionError("It did not come true in 20 s.");
      }
      try {
        Thread.sleep(2);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  /** Lets a node neither hear nor speak until the latch is open. */
  public static void hang(PeerTransport node, CountDownLatch until) {
    for (EventLoopGroup group : List.of(node.loops().raft(), node.loops().application())) {
      group.forEach(thread -> thread.execute(() -> awaitOpen(until)));
    }
  }

  private static void awaitOpen(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
