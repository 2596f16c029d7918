// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.concurrent.OpOrder;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/**
 * Keeps statements and changes of a table's mode apart: while a table becomes transactional, or
 * ceases to be, statements on it wait, and those under way are waited for. Other tables don't
 * notice.
 */
public final class TableGate {
  private static final long LONGEST_WAIT_MILLIS = 30_000;

  private final OpOrder statements = new OpOrder();
  private final Map<TableId, CountDownLatch> closed = new ConcurrentHashMap<>();

  /** A statement on these tables runs until the group is closed. */
  public OpOrder.Group enter(Collection<TableMetadata> tables) {
    while (true) {
      OpOrder.Group group = statements.start();
      CountDownLatch gate = closedGate(tables);
      if (gate == null) {
        return group;
      }
      group.close();
      await(gate, tables);
    }
  }

  private CountDownLatch closedGate(Collection<TableMetadata> tables) {
    if (!closed.isEmpty()) {
      for (TableMetadata table : tables) {
        CountDownLatch gate = closed.get(table.id);
        if (gate != null) {
          return gate;
        }
      }
    }
    return null;
  }

  private static void await(CountDownLatch gate, Collection<TableMetadata> tables) {
    try {
      if (!gate.await(LONGEST_WAIT_MILLIS, TimeUnit.MILLISECONDS)) {
        throw IsoldeException.of(
            ErrorCode.NOT_TRANSACTIONAL,
            "ENABLE or DISABLE TRANSACTIONS on " + tables + " has not ended yet; try again.");
      }
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  /** Runs a change of a table's mode while no statement on it runs. One at a time for a table. */
  public void whileClosed(TableMetadata table, Runnable change) {
    CountDownLatch gate = new CountDownLatch(1);
    if (closed.putIfAbsent(table.id, gate) != null) {
      throw IsoldeException.of(
          ErrorCode.UNSUPPORTED_TABLE,
          "ENABLE or DISABLE TRANSACTIONS on " + table + " is under way already.",
          "table",
          table);
    }
    try {
      OpOrder.Barrier barrier = statements.newBarrier();
      barrier.issue();
      barrier.await();
      change.run();
    } finally {
      closed.remove(table.id);
      gate.countDown();
    }
  }
}
