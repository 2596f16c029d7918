// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import io.isolde.mail.store.cql.ContentSweep;
import java.time.Duration;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Removes content that no mailbox lists, in a thread of its own, when it is this server's turn. */
final class Sweeping implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Sweeping.class);

  /** How often a server asks whether it is its turn. */
  private static final Duration BETWEEN_QUESTIONS = Duration.ofHours(1);

  private static final long MAX_CLOSING_MILLIS = 5_000;

  private final ContentSweep sweep;
  private final Thread thread = new Thread(this::run, "mail-sweep");

  private Sweeping(ContentSweep sweep) {
    this.sweep = sweep;
    thread.setDaemon(true);
  }

  static Sweeping start(ContentSweep sweep) {
    Sweeping sweeping = new Sweeping(sweep);
    sweeping.thread.start();
    return sweeping;
  }

  private void run() {
    try {
      while (true) {
        Thread.sleep(BETWEEN_QUESTIONS.toMillis());
        sweepOnce();
      }
    } catch (InterruptedException e) {
      // The server is being closed.
    }
  }

  private void sweepOnce() throws InterruptedException {
    try {
      if (sweep.claim()) {
        ContentSweep.Found found = sweep.find(Instant.now().minus(ContentSweep.MIN_AGE));
        Thread.sleep(ContentSweep.BETWEEN_LOOKS.toMillis());
        log.info("Removed the content of {} messages that no mailbox has", sweep.remove(found));
        sweep.finish();
      }
    } catch (RuntimeException e) {
      log.warn("Content that no mailbox has stays until the next sweep, a day later", e);
    }
  }

  @Override
  public void close() {
    thread.interrupt();
    try {
      thread.join(MAX_CLOSING_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
