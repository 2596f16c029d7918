// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.client.Isolde;
import io.isolde.client.Watch;
import io.isolde.client.WatchListener;
import io.isolde.mail.store.MailboxSignals;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Signals by Isolde's watches, one for each mailbox. They come in the time that a commit takes to
 * be visible.
 */
final class WatchedMailboxes implements MailboxSignals {
  private static final Logger log = LoggerFactory.getLogger(WatchedMailboxes.class);
  private static final long MIN_PAUSE_MILLIS = 5_000;
  private static final long MAX_PAUSE_MILLIS = 10_000;
  private static final int MAX_RESTARTS_AT_ONCE = 2;

  /** A mailbox that can't be reached is not to hold back the others. */
  private static final Duration MAX_WAIT = Duration.ofSeconds(5);

  private static final int IDLE_SECONDS = 10;

  private final CqlSession session;
  private final Isolde isolde;
  private final String select;

  /** For watches that start anew: as many wait as there are mailboxes open. */
  private final ThreadPoolExecutor restarts =
      new ThreadPoolExecutor(
          MAX_RESTARTS_AT_ONCE,
          MAX_RESTARTS_AT_ONCE,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(),
          WatchedMailboxes::thread);

  WatchedMailboxes(CqlSession session, String keyspace) {
    this.session = session;
    this.isolde = Isolde.on(session);
    restarts.allowCoreThreadTimeOut(true);
    this.select = "SELECT CHANGES FROM %s.messages WHERE mailbox_id = ?".formatted(keyspace);
  }

  private static Thread thread(Runnable task) {
    Thread thread = new Thread(task, "mail-watches");
    thread.setDaemon(true);
    return thread;
  }

  @Override
  public Listening listen(UUID mailbox, Runnable changed) {
    OneMailbox listening = new OneMailbox(mailbox, changed);
    listening.watch(now(mailbox));
    return listening;
  }

  /** A position that all changes that are not visible yet come after. */
  private long now(UUID mailbox) {
    Row now =
        session
            .execute(
                SimpleStatement.newInstance(select + " AFTER NOW WITHIN 0 MILLISECONDS", mailbox)
                    .setTimeout(MAX_WAIT))
            .one();
    return now.getLong("timestamp");
  }

  private final class OneMailbox implements Listening, WatchListener {
    private final UUID mailbox;
    private final Runnable changed;

    /** Guarded by this. */
    private Watch watch;

    private boolean isClosed;

    OneMailbox(UUID mailbox, Runnable changed) {
      this.mailbox = mailbox;
      this.changed = changed;
    }

    private synchronized void watch(long after) {
      if (!isClosed) {
        watch = isolde.watch(select, List.of(mailbox), OptionalLong.of(after), this);
      }
    }

    private synchronized boolean isClosed() {
      return isClosed;
    }

    @Override
    public void changed(long commitTimestamp) {
      changed.run();
    }

    @Override
    public void lost(long position) {
      changed.run();
    }

    /** Whatever it was may pass: a table that is altered, or rights that are given again. */
    @Override
    public void failed(Throwable error) {
      log.warn("The watch of mailbox {} has failed, and starts anew", mailbox, error);
      restartLater();
    }

    private void restartLater() {
      long pauseMillis = ThreadLocalRandom.current().nextLong(MIN_PAUSE_MILLIS, MAX_PAUSE_MILLIS);
      CompletableFuture.delayedExecutor(pauseMillis, TimeUnit.MILLISECONDS, restarts)
          .execute(this::restart);
    }

    /** The signal comes last: whoever reads then sees all changes up to where the watch goes on. */
    private void restart() {
      if (isClosed()) {
        return;
      }
      try {
        watch(now(mailbox));
      } catch (RuntimeException e) {
        log.warn("The watch of mailbox {} can't start anew yet", mailbox, e);
        restartLater();
        return;
      }
      changed.run();
    }

    @Override
    public synchronized void close() {
      isClosed = true;
      watch.close();
    }
  }
}
