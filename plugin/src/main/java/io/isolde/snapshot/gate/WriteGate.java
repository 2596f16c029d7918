// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.gate;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.concurrent.OpOrder;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/**
 * Holds back the writes that clients send to this node, table by table. Costs a write next to
 * nothing while it is open.
 */
public final class WriteGate {
  private static final long MAX_WAIT_MILLIS = 10_000;

  private final OpOrder writes = new OpOrder();
  private final Map<TableId, CountDownLatch> closed = new ConcurrentHashMap<>();

  /**
   * A write to these tables runs until the group is closed.
   *
   * @throws IsoldeException SNAPSHOT_UNAVAILABLE if the gate stays closed for too long
   */
  public OpOrder.Group enter(Collection<TableMetadata> tables) {
    while (true) {
      OpOrder.Group group = writes.start();
      CountDownLatch opening = closed.isEmpty() ? null : opening(tables);
      if (opening == null) {
        return group;
      }
      group.close();
      await(opening);
    }
  }

  private CountDownLatch opening(Collection<TableMetadata> tables) {
    for (TableMetadata table : tables) {
      CountDownLatch opening = closed.get(table.id);
      if (opening != null) {
        return opening;
      }
    }
    return null;
  }

  private static void await(CountDownLatch opening) {
    try {
      if (!opening.await(MAX_WAIT_MILLIS, TimeUnit.MILLISECONDS)) {
        throw IsoldeException.of(
            ErrorCode.SNAPSHOT_UNAVAILABLE,
            "Writes still wait for a snapshot that is cut; nothing was written, try again.");
      }
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  /**
   * Closes the gate: writes to these tables wait from now on. Whoever closes it, opens it.
   *
   * @throws IllegalStateException if it is closed for one of the tables already
   */
  public void close(Set<TableId> tables) {
    CountDownLatch opening = new CountDownLatch(1);
    for (TableId table : tables) {
      if (closed.putIfAbsent(table, opening) != null) {
        closed.values().removeIf(opening::equals);
        opening.countDown();
        throw new IllegalStateException("Another snapshot holds writes back on a table.");
      }
    }
  }

  /** Waits until the writes have ended that were under way; as long as those may take. */
  public void awaitWrites() {
    OpOrder.Barrier barrier = writes.newBarrier();
    barrier.issue();
    barrier.await();
  }

  /** Opens it; does nothing where it is open. */
  public void open(Set<TableId> tables) {
    for (TableId table : tables) {
      CountDownLatch opening = closed.remove(table);
      if (opening != null) {
        opening.countDown();
      }
    }
  }
}
