// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import io.isolde.mail.store.MailboxSignals;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** Signals after each pause, for stores whose tables can't be watched. */
final class PolledMailboxes implements MailboxSignals {
  private final Executor later;

  PolledMailboxes(Duration pause) {
    // In the thread of the clock: whoever is called does not wait.
    later =
        CompletableFuture.delayedExecutor(pause.toMillis(), TimeUnit.MILLISECONDS, Runnable::run);
  }

  @Override
  public Listening listen(UUID mailbox, Runnable changed) {
    OneMailbox listening = new OneMailbox(changed);
    later.execute(listening);
    return listening;
  }

  private final class OneMailbox implements Listening, Runnable {
    private final Runnable changed;
    private volatile boolean isClosed;

    OneMailbox(Runnable changed) {
      this.changed = changed;
    }

    @Override
    public void run() {
      if (!isClosed) {
        changed.run();
        later.execute(this);
      }
    }

    @Override
    public void close() {
      isClosed = true;
    }
  }
}
