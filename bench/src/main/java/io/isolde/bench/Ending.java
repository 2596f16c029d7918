// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Tells clients, each of which sends one request after the other, to end; and waits for them. */
final class Ending implements AutoCloseable {
  /** A request that takes longer than this is not waited for. */
  private static final int PATIENCE_SECONDS = 30;

  private final CountDownLatch running;
  private volatile boolean isDue;

  Ending(int clients) {
    running = new CountDownLatch(clients);
  }

  /** Whether a client is to end before its next request; then it calls {@link #ended}. */
  boolean isDue() {
    return isDue;
  }

  /** A client sends nothing any more. */
  void ended() {
    running.countDown();
  }

  @Override
  public void close() {
    isDue = true;
    try {
      var unused = running.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
