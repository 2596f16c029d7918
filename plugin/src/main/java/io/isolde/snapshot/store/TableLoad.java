// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.store;

import io.isolde.version.AsOfCut;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterator;
import org.apache.cassandra.io.sstable.format.SSTableReader;

/** Brings the content of a cut into the table of the snapshot. */
public final class TableLoad {
  private final ColumnFamilyStore target;

  public TableLoad(ColumnFamilyStore target) {
    this.target = target;
  }

  /** All that the SSTables hold. */
  public void load(List<SSTableReader> sstables) throws IOException {
    add(link(sstables));
  }

  /** What a transactional table held at a timestamp. Consumes the cut. */
  public void load(AsOfCut cut) throws IOException {
    try (cut) {
      List<SSTableReader> added = link(cut.whole());
      if (cut.hasRest()) {
        try (UnfilteredPartitionIterator rest = cut.rest()) {
          added.addAll(
              new SSTableWriting(target).write(rest, cut.restBytes(), cut.restPartitions()));
        } catch (RuntimeException | Error e) {
          release(added);
          throw e;
        }
      }
      add(added);
    }
  }

  private List<SSTableReader> link(List<SSTableReader> sstables) throws IOException {
    SSTableLinks links = new SSTableLinks(target);
    List<SSTableReader> linked = new ArrayList<>(sstables.size());
    try {
      for (SSTableReader sstable : sstables) {
        linked.add(links.link(sstable));
      }
      return linked;
    } catch (IOException | RuntimeException | Error e) {
      release(linked);
      throw e;
    }
  }

  /** Their files go with the table. */
  private static void release(List<SSTableReader> sstables) {
    sstables.forEach(sstable -> sstable.selfRef().release());
  }

  /** Indexes are built from what is added, before this returns. */
  private void add(List<SSTableReader> sstables) {
    try {
      target.indexManager.buildSSTableAttachedIndexesBlocking(sstables);
    } catch (RuntimeException | Error e) {
      release(sstables);
      throw e;
    }
    target.getTracker().addSSTables(sstables);
  }
}
