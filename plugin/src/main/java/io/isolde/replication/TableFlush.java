// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.memtable.Memtable;

/**
 * A flush of a table that knows whether all of it is on disk.
 *
 * <p>Cassandra does not try a flush again that has failed, and flushes what came after it as if
 * nothing were; but the memtable stays where those are that are being flushed. The log is its only
 * other place. An index's may fail when that of its table has not.
 */
final class TableFlush {
  private TableFlush() {}

  /** Completes when all that the table had is on disk; fails if it is not. */
  static CompletableFuture<Void> of(ColumnFamilyStore table) {
    Set<Memtable> before = new HashSet<>();
    for (ColumnFamilyStore store : table.concatWithIndexes()) {
      store.getTracker().getView().getAllMemtables().forEach(before::add);
    }
    CompletableFuture<Void> flushed = new CompletableFuture<>();
    var unused =
        table
            .forceFlush(ColumnFamilyStore.FlushReason.INTERNALLY_FORCED)
            .addCallback((at, failure) -> complete(flushed, failure));
    return flushed.thenRun(() -> requireFlushed(table, before));
  }

  private static void complete(CompletableFuture<Void> future, Throwable failure) {
    if (failure == null) {
      future.complete(null);
    } else {
      future.completeExceptionally(failure);
    }
  }

  private static void requireFlushed(ColumnFamilyStore table, Set<Memtable> before) {
    for (ColumnFamilyStore store : table.concatWithIndexes()) {
      for (Memtable memtable : store.getTracker().getView().flushingMemtables) {
        if (before.contains(memtable)) {
          throw new IllegalStateException(
              "An earlier flush of "
                  + store.metadata()
                  + " has failed; its writes come from the log when this node starts again.");
        }
      }
    }
  }
}
