// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.store;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.lifecycle.SSTableSet;
import org.apache.cassandra.db.lifecycle.View;
import org.apache.cassandra.db.memtable.Memtable;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.notifications.INotification;
import org.apache.cassandra.notifications.INotificationConsumer;
import org.apache.cassandra.notifications.SSTableAddedNotification;
import org.apache.cassandra.utils.concurrent.Ref;

/**
 * What one table holds on this node at one moment: the SSTables of that moment, and those that its
 * memtables are written to. What is written afterwards goes to another memtable. Held until closed,
 * whatever compactions do meanwhile.
 */
public final class TableCut implements INotificationConsumer, AutoCloseable {
  private final ColumnFamilyStore table;

  /** By identity. Bounded by the memtables of a table. */
  private final Set<Memtable> memtables = Collections.newSetFromMap(new IdentityHashMap<>());

  /** Guarded by this. */
  private final List<Ref<SSTableReader>> held = new ArrayList<>();

  private boolean isClosed;
  private boolean isIncomplete;
  private Future<?> flush;

  private TableCut(ColumnFamilyStore table) {
    this.table = table;
  }

  /** Makes the cut; writes are not held up. */
  public static TableCut of(ColumnFamilyStore table) {
    TableCut cut = new TableCut(table);
    try {
      cut.make();
      return cut;
    } catch (RuntimeException | Error e) {
      cut.close();
      throw e;
    }
  }

  private void make() {
    // Cassandra switches memtables under this monitor: the current one stays current in here.
    synchronized (table.getTracker()) {
      synchronized (this) {
        // Flushes that end meanwhile wait for this: then they know which memtables count.
        table.getTracker().subscribe(this);
        ColumnFamilyStore.RefViewFragment view =
            table.selectAndReference(View.selectFunction(SSTableSet.CANONICAL));
        view.memtables.forEach(memtables::add);
        view.sstables.forEach(sstable -> held.add(view.refs.get(sstable)));
      }
      flush = table.switchMemtable(ColumnFamilyStore.FlushReason.SNAPSHOT);
    }
  }

  @Override
  public void handleNotification(INotification notification, Object sender) {
    if (notification instanceof SSTableAddedNotification added && added.memtable().isPresent()) {
      hold(added);
    }
  }

  private synchronized void hold(SSTableAddedNotification added) {
    if (isClosed || !memtables.contains(added.memtable().get())) {
      return;
    }
    for (SSTableReader sstable : added.added) {
      Ref<SSTableReader> reference = sstable.tryRef();
      if (reference == null) {
        isIncomplete = true;
      } else {
        held.add(reference);
      }
    }
  }

  /**
   * Returns the SSTables, when all of them are on disk.
   *
   * @throws TimeoutException if that takes too long
   * @throws IllegalStateException if one of them is gone already; a new cut may have more luck
   */
  public List<SSTableReader> sstables(long timeoutMillis)
      throws TimeoutException, ExecutionException, InterruptedException {
    var unused = flush.get(timeoutMillis, TimeUnit.MILLISECONDS);
    synchronized (this) {
      if (isIncomplete || isClosed) {
        throw new IllegalStateException("An SSTable of " + table.name + " is gone; try again.");
      }
      return held.stream().map(Ref::get).toList();
    }
  }

  @Override
  public void close() {
    table.getTracker().unsubscribe(this);
    synchronized (this) {
      isClosed = true;
      held.forEach(Ref::release);
      held.clear();
    }
  }
}
