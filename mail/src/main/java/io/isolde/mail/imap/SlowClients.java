// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.imap;

import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * How many workers wait for clients that are slow to read. The others are there for everybody else.
 */
final class SlowClients {
  /** Whoever takes a part of an answer in that time is not slow. */
  private static final int MAX_PATIENCE_MILLIS = 1_000;

  private final Semaphore places;

  /**
   * Of these workers half may wait.
   *
   * @param workers at least one
   */
  SlowClients(int workers) {
    places = new Semaphore(Math.max(1, workers / 2));
  }

  /**
   * Waits until a part of an answer has left.
   *
   * @throws IOException if the client is slow and there are as many slow ones as may be
   */
  void await(Future<?> written) throws IOException, InterruptedException {
    if (written.await(MAX_PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
      return;
    }
    if (!places.tryAcquire()) {
      throw new IOException("Too many clients are slow to read");
    }
    try {
      written.await();
    } finally {
      places.release();
    }
  }
}
