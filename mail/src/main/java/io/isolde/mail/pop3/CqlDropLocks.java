// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.pop3;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.mail.store.cql.TableCreation;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Locks in the table {@code drop_locks} of a keyspace, which expire. This server renews those whose
 * clients are connected, so a lock outlives its server by {@value #EXPIRY_SECONDS} seconds at most.
 */
@SuppressWarnings("FutureReturnValueIgnored") // renewals end with the locks
public final class CqlDropLocks implements DropLocks {
  private static final Logger log = LoggerFactory.getLogger(CqlDropLocks.class);

  static final int EXPIRY_SECONDS = 60;
  private static final Duration RENEWAL = Duration.ofSeconds(15);

  /** A node that is slow for one lock is not to hold back the others. */
  private static final int MAX_RENEWALS_AT_ONCE = 64;

  /** When a lock that could not be renewed counts as lost; before another server can have it. */
  private static final long MAX_UNRENEWED_NANOS = TimeUnit.SECONDS.toNanos(40);

  private final CqlSession session;
  private final PreparedStatement lock;
  private final PreparedStatement renew;
  private final PreparedStatement unlock;
  private final ScheduledExecutorService renewals;
  private final Semaphore renewing = new Semaphore(MAX_RENEWALS_AT_ONCE);

  /** At most one for each connection of a client. */
  private final Set<CqlLock> held = ConcurrentHashMap.newKeySet();

  CqlDropLocks(CqlSession session, String keyspace, Duration renewal) {
    this.session = session;
    lock =
        prepare(
            "INSERT INTO \"%s\".drop_locks (address, holder) VALUES (?, ?) IF NOT EXISTS"
                    .formatted(keyspace)
                + " USING TTL "
                + EXPIRY_SECONDS);
    renew =
        prepare(
            "UPDATE \"%s\".drop_locks USING TTL %d SET holder = ? WHERE address = ? IF holder = ?"
                .formatted(keyspace, EXPIRY_SECONDS));
    unlock =
        prepare(
            "DELETE FROM \"%s\".drop_locks WHERE address = ? IF holder = ?".formatted(keyspace));
    renewals =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "mail-drop-locks");
              thread.setDaemon(true);
              return thread;
            });
    renewals.scheduleWithFixedDelay(
        this::renewAll, renewal.toMillis(), renewal.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Whatever happens to one, the others are renewed, and all of them the next time. */
  private void renewAll() {
    for (CqlLock lock : held) {
      try {
        renewing.acquire();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt(); // the locks are closed
        return;
      }
      lock.renew().whenComplete((renewed, error) -> renewing.release());
    }
  }

  private PreparedStatement prepare(String cql) {
    return session.prepare(
        SimpleStatement.newInstance(cql)
            .setConsistencyLevel(ConsistencyLevel.QUORUM)
            .setSerialConsistencyLevel(ConsistencyLevel.SERIAL));
  }

  /** Opens the locks of a keyspace, which has to exist. Creates the table if it is missing. */
  public static CqlDropLocks open(CqlSession session, String keyspace) {
    TableCreation.create(
        session, keyspace, List.of("drop_locks (address text PRIMARY KEY, holder uuid)"));
    return new CqlDropLocks(session, keyspace, RENEWAL);
  }

  @Override
  public Optional<Held> tryLock(String address) {
    CqlLock wanted = new CqlLock(address);
    if (!session.execute(lock.bind(address, wanted.holder)).wasApplied()) {
      return Optional.empty();
    }
    held.add(wanted);
    return Optional.of(wanted);
  }

  @Override
  public void close() {
    renewals.shutdownNow();
  }

  private final class CqlLock implements Held {
    private final String address;
    private final UUID holder = UUID.randomUUID();

    /** When the last renewal that succeeded was sent. */
    private volatile long renewedNanos = System.nanoTime();

    private volatile boolean isLost;

    CqlLock(String address) {
      this.address = address;
    }

    @Override
    public boolean isHeld() {
      return !isLost && System.nanoTime() - renewedNanos < MAX_UNRENEWED_NANOS;
    }

    @Override
    public void release() {
      if (held.remove(this)) {
        try {
          session.execute(unlock.bind(address, holder));
        } catch (DriverException e) {
          log.warn("The lock on the drop of {} expires by itself: {}", address, e.getMessage());
        }
      }
    }

    private CompletionStage<?> renew() {
      long sent = System.nanoTime();
      CompletionStage<AsyncResultSet> answer;
      try {
        answer = session.executeAsync(renew.bind(holder, address, holder));
      } catch (RuntimeException e) {
        answer = CompletableFuture.failedFuture(e);
      }
      return answer.whenComplete((result, error) -> renewed(sent, result, error));
    }

    private void renewed(long sentNanos, AsyncResultSet result, Throwable error) {
      if (error != null) {
        log.warn("The lock on the drop of {} is not renewed: {}", address, error.getMessage());
      } else if (!result.wasApplied()) {
        isLost = true;
        held.remove(this);
      } else if (sentNanos - renewedNanos > 0) {
        renewedNanos = sentNanos;
      }
    }
  }
}
