// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterator;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterators;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.db.rows.UnfilteredRowIterators;
import org.apache.cassandra.db.transform.EmptyPartitionsDiscarder;
import org.apache.cassandra.db.transform.Transformation;
import org.apache.cassandra.io.sstable.Descriptor;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.utils.concurrent.Ref;

/**
 * All that a transactional table held at a timestamp, on this replica, on disk: the SSTables that
 * hold nothing newer, as they are, and the rest, read without what is newer.
 *
 * <p>The rest is what SSTables with something newer hold, and the versions that were replaced in
 * memtables: whatever was replaced was so by something newer, so its partition is in one of those.
 */
public final class AsOfCut implements AutoCloseable {
  private final VersionIndex index;
  private final long asOf;
  private final List<SSTableReader> whole = new ArrayList<>();
  private final List<SSTableReader> mixed = new ArrayList<>();
  private final List<Ref<SSTableReader>> references = new ArrayList<>();

  /**
   * Sorts out what is needed.
   *
   * @param asOf a timestamp at which everything was applied, in microseconds
   * @param sstables of the table at a moment after that, with all that its memtables held then; the
   *     caller keeps them open
   * @throws SnapshotTooOldException if this replica has given up what it takes
   */
  public AsOfCut(VersionIndex index, long asOf, List<SSTableReader> sstables) {
    this.index = index;
    this.asOf = asOf;
    Set<Descriptor> present = new HashSet<>();
    for (SSTableReader sstable : sstables) {
      present.add(sstable.descriptor);
      sort(sstable);
    }
    try {
      addReplaced(present);
      index.versions().horizon().check(asOf);
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private void sort(SSTableReader sstable) {
    (sstable.getMaxTimestamp() <= asOf ? whole : mixed).add(sstable);
  }

  /** What compactions replaced since, and may have dropped. */
  private void addReplaced(Set<Descriptor> present) {
    for (SSTableReader sstable :
        index.versions().retention().missingFrom(index.store().getTracker().getView(), asOf)) {
      if (present.contains(sstable.descriptor) || sstable.getMinTimestamp() > asOf) {
        continue;
      }
      Ref<SSTableReader> reference = sstable.tryRef();
      if (reference != null) { // else it was let go just now, and the horizon says so
        references.add(reference);
        sort(sstable);
      }
    }
  }

  /** SSTables that are wholly of the past. */
  public List<SSTableReader> whole() {
    return whole;
  }

  /** Whether there is something else. */
  public boolean hasRest() {
    return !mixed.isEmpty();
  }

  /** At most so many bytes are in {@link #rest}, but for replaced versions. */
  public long restBytes() {
    return mixed.stream().mapToLong(SSTableReader::uncompressedLength).sum();
  }

  /** About so many partitions are in {@link #rest}. */
  public long restPartitions() {
    return mixed.stream().mapToLong(SSTableReader::estimatedKeys).sum();
  }

  /**
   * Reads the rest.
   *
   * @throws SnapshotTooOldException while it is read, if something that it needs was given up
   */
  public UnfilteredPartitionIterator rest() {
    List<UnfilteredPartitionIterator> sources = new ArrayList<>();
    try {
      for (SSTableReader sstable : mixed) {
        sources.add(Transformation.apply(sstable.getScanner(), new AsOfFilter(asOf)));
      }
    } catch (RuntimeException | Error e) {
      sources.forEach(UnfilteredPartitionIterator::close);
      throw e;
    }
    UnfilteredPartitionIterator merged =
        UnfilteredPartitionIterators.merge(
            sources, UnfilteredPartitionIterators.MergeListener.NOOP);
    merged = Transformation.apply(merged, new AddVersions());
    return Transformation.apply(merged, new EmptyPartitionsDiscarder());
  }

  private final class AddVersions extends Transformation<UnfilteredRowIterator> {
    @Override
    protected UnfilteredRowIterator applyToPartition(UnfilteredRowIterator partition) {
      List<Version> kept = index.versions().store().neededBy(partition.partitionKey(), asOf);
      index.versions().horizon().check(asOf);
      if (kept.isEmpty()) {
        return partition;
      }
      List<UnfilteredRowIterator> sources = new ArrayList<>();
      sources.add(partition);
      sources.addAll(
          new KeptRows(
                  index.table(),
                  ColumnFilter.all(index.table()),
                  false,
                  partition.partitionKey(),
                  Slices.ALL,
                  asOf)
              .of(kept));
      return UnfilteredRowIterators.merge(sources);
    }
  }

  @Override
  public void close() {
    references.forEach(Ref::release);
    references.clear();
  }
}
