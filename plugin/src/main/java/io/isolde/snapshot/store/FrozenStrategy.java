// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.store;

import io.isolde.config.IsoldeConfig;
import io.isolde.snapshot.SnapshotTag;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.compaction.AbstractCompactionStrategy;
import org.apache.cassandra.db.compaction.AbstractCompactionTask;
import org.apache.cassandra.db.compaction.OperationType;
import org.apache.cassandra.db.lifecycle.LifecycleTransaction;
import org.apache.cassandra.dht.Range;
import org.apache.cassandra.dht.Token;
import org.apache.cassandra.io.sstable.format.SSTableReader;

/**
 * The compaction strategy of snapshots: none, whoever asks for it, since Cassandra's compactions
 * drop what has expired by now. But a snapshot that was taken of many SSTables that overlap is
 * merged once, by {@link Consolidation}.
 */
public final class FrozenStrategy extends AbstractCompactionStrategy {
  /** Guarded by this. */
  private final Set<SSTableReader> sstables = new HashSet<>();

  /** Called by Cassandra, by reflection. */
  public FrozenStrategy(ColumnFamilyStore table, Map<String, String> options) {
    super(table, options);
  }

  @Override
  public AbstractCompactionTask getNextBackgroundTask(long gcBefore) {
    Optional<SnapshotTag> tag = SnapshotTag.of(cfs.metadata());
    Collection<SSTableReader> candidates = overlapping();
    if (tag.isEmpty() || !tag.get().isReady() || candidates.isEmpty()) {
      return null;
    }
    LifecycleTransaction change = cfs.getTracker().tryModify(candidates, OperationType.COMPACTION);
    return change == null ? null : new Consolidation(cfs, change, tag.get().nowInSeconds());
  }

  /** All, if more of them overlap than a snapshot should have; else none. */
  private synchronized Collection<SSTableReader> overlapping() {
    int bound = IsoldeConfig.ofThisNode().snapshots().maxOverlap();
    List<SSTableReader> sound = filterSuspectSSTables(sstables);
    return SSTableOverlap.depth(sound) > bound ? new ArrayList<>(sound) : List.of();
  }

  /** For {@code nodetool compact}: there is nothing to do. */
  @Override
  public Collection<AbstractCompactionTask> getMaximalTask(long gcBefore, boolean splitOutput) {
    return List.of();
  }

  @Override
  public AbstractCompactionTask getUserDefinedTask(
      Collection<SSTableReader> chosen, long gcBefore) {
    return null;
  }

  /**
   * Cassandra asks for the content of ranges only to compare replicas: for {@code nodetool repair}.
   * To it all replicas of a snapshot are empty, hence equal, so that it changes none.
   */
  @Override
  public ScannerList getScanners(
      Collection<SSTableReader> chosen, Collection<Range<Token>> ranges) {
    return ranges == null ? super.getScanners(chosen, ranges) : new ScannerList(List.of());
  }

  @Override
  public int getEstimatedRemainingTasks() {
    return overlapping().isEmpty() ? 0 : 1;
  }

  @Override
  public long getMaxSSTableBytes() {
    return Long.MAX_VALUE;
  }

  @Override
  public synchronized void addSSTable(SSTableReader added) {
    sstables.add(added);
  }

  @Override
  public synchronized void removeSSTable(SSTableReader removed) {
    sstables.remove(removed);
  }

  @Override
  protected synchronized Set<SSTableReader> getSSTables() {
    return Set.copyOf(sstables);
  }
}
