// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction.barrier;

import com.google.common.cache.CacheBuilder;
import com.google.common.util.concurrent.Uninterruptibles;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.concurrent.OpOrder;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/**
 * Keeps the statements that clients send to this node and changes of a table's mode apart: while it
 * is closed for a table, statements on it wait. Other tables don't notice. Costs a statement next
 * to nothing while it is open.
 */
public final class TableBarrier {
  private static final long MAX_WAIT_MILLIS = 30_000;
  private static final long LOOK_MILLIS = 20;

  /** More than changes of modes in that time, and for longer than a request is under way. */
  private static final int MAX_ENDED = 1_000;

  private static final Duration ENDED_FOR = Duration.ofMinutes(5);

  private final OpOrder statements = new OpOrder();
  private final Map<TableId, Closed> closed = new ConcurrentHashMap<>();

  /** How many TRUNCATEs of plain tables run, by table; none of those without. */
  private final Map<TableId, Integer> truncations = new ConcurrentHashMap<>();

  /** Changes that have opened what they closed: a copy of their request may still arrive. */
  private final Set<UUID> ended =
      Collections.newSetFromMap(
          CacheBuilder.newBuilder()
              .maximumSize(MAX_ENDED)
              .expireAfterWrite(ENDED_FOR)
              .<UUID, Boolean>build()
              .asMap());

  /** Closed by a change of a table's mode. */
  private static final class Closed {
    private final TableId table;
    private final UUID change;
    private final CountDownLatch opened = new CountDownLatch(1);

    /** At the longest until a time of {@code nanoTime}. */
    private volatile long untilNanos;

    Closed(TableId table, UUID change, long untilNanos) {
      this.table = table;
      this.change = change;
      this.untilNanos = untilNanos;
    }

    long leftNanos() {
      return untilNanos - System.nanoTime();
    }
  }

  /**
   * A statement on these tables runs until the group is closed.
   *
   * @throws IsoldeException NOT_TRANSACTIONAL if the barrier stays closed for too long
   */
  public OpOrder.Group enter(Collection<TableMetadata> tables) {
    while (true) {
      OpOrder.Group group = statements.start();
      Closed barrier = closedBarrier(tables);
      if (barrier == null) {
        return group;
      }
      group.close();
      await(barrier, tables);
    }
  }

  /** A TRUNCATE of a plain table that runs. */
  @FunctionalInterface
  public interface Truncation extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * As {@link #enter}, for a TRUNCATE of a plain table. It may take a minute, so changes of other
   * tables do not wait for it.
   */
  public Truncation enterTruncation(TableMetadata table) {
    while (true) {
      count(table.id, 1);
      Closed barrier = closedBarrier(List.of(table));
      if (barrier == null) {
        return () -> count(table.id, -1);
      }
      count(table.id, -1);
      await(barrier, List.of(table));
    }
  }

  private void count(TableId table, int more) {
    // The count is there before somebody looks whether the barrier is closed, and the other way.
    truncations.merge(table, more, (before, now) -> before + now == 0 ? null : before + now);
  }

  private Closed closedBarrier(Collection<TableMetadata> tables) {
    if (!closed.isEmpty()) {
      for (TableMetadata table : tables) {
        Closed barrier = closed.get(table.id);
        if (barrier != null) {
          return barrier;
        }
      }
    }
    return null;
  }

  private void await(Closed barrier, Collection<TableMetadata> tables) {
    long waitNanos = TimeUnit.MILLISECONDS.toNanos(MAX_WAIT_MILLIS);
    try {
      boolean isOpen =
          barrier.opened.await(Math.min(waitNanos, barrier.leftNanos()), TimeUnit.NANOSECONDS);
      if (!isOpen && barrier.leftNanos() > 0) {
        throw IsoldeException.of(
            ErrorCode.UNAVAILABLE,
            "A change of one of the tables "
                + tables
                + " (ENABLE or DISABLE TRANSACTIONS, TRUNCATE, CREATE UNIQUE INDEX, DROP of a column)"
                + " has not ended yet;"
                + " try again.");
      }
      if (!isOpen) {
        open(barrier);
      }
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  /**
   * From now on statements on the table wait. Closing it twice is as closing it once, but the lease
   * begins anew.
   *
   * @param change closes it, and opens it
   * @param leaseMillis after which it opens by itself, should nobody open it
   * @return false if it is closed by another change, or this one has opened it again
   */
  boolean close(TableId table, UUID change, long leaseMillis) {
    long untilNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(leaseMillis);
    Closed barrier = new Closed(table, change, untilNanos);
    Closed other = closed.putIfAbsent(table, barrier);
    if (other != null && other.leftNanos() <= 0) {
      open(other);
      other = closed.putIfAbsent(table, barrier);
    }
    if (other != null && other.change.equals(change)) {
      other.untilNanos = untilNanos;
    }
    // It is closed before this is looked at, and noted as ended before it is opened: one notices.
    if (ended.contains(change)) {
      open(table, change);
      return false;
    }
    return other == null || other.change.equals(change);
  }

  /** Whether statements on a table have to wait on this node. */
  public boolean isClosed(TableId table) {
    return leaseMillis(table) > 0;
  }

  /** For how long it stays closed if nobody opens it; 0 if it is open. */
  long leaseMillis(TableId table) {
    Closed barrier = closed.get(table);
    return barrier == null ? 0 : TimeUnit.NANOSECONDS.toMillis(barrier.leftNanos());
  }

  /**
   * Waits for the statements that were under way on this node, on whatever tables, and for a
   * TRUNCATE of this one.
   *
   * @return false if the barrier has opened by itself meanwhile
   */
  boolean awaitStatements(TableId table) {
    OpOrder.Barrier barrier = statements.newBarrier();
    barrier.issue();
    barrier.await();
    while (truncations.containsKey(table) && isClosed(table)) {
      Uninterruptibles.sleepUninterruptibly(LOOK_MILLIS, TimeUnit.MILLISECONDS);
    }
    return !truncations.containsKey(table);
  }

  /** Does nothing if another change has closed it, or none. */
  void open(TableId table, UUID change) {
    ended.add(change);
    Closed barrier = closed.get(table);
    if (barrier != null && barrier.change.equals(change)) {
      open(barrier);
    }
  }

  private void open(Closed barrier) {
    closed.remove(barrier.table, barrier);
    barrier.opened.countDown();
  }
}
