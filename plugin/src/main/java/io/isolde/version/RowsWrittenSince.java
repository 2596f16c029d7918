// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.ClusteringComparator;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.ReadCommand;

/** What a command selects of the rows that were written after its timestamp. */
final class RowsWrittenSince {
  private final AsOfSearcher searcher;

  /** Whether a change may be one of all rows of its partition. */
  private final boolean isByPartition;

  /** Whether an index lets go of what a write replaces, perhaps before the log has the write. */
  private final boolean forgets;

  private ChangeLog.Node lastSeen;
  private DecoratedKey passed;
  private final TreeMap<DecoratedKey, OfPartition> partitions = new TreeMap<>();

  RowsWrittenSince(AsOfSearcher searcher, ReadCommand indexed, ChangeLog.Node before) {
    this.searcher = searcher;
    this.forgets =
        indexed.indexQueryPlan().getIndexes().stream()
            .anyMatch(index -> index.getBackingTable().isPresent());
    this.isByPartition =
        searcher.filter().hasStaticExpression()
            || !searcher.filter().hasExpressionOnClusteringOrRegularColumns();
    this.lastSeen = before;
  }

  private static final class OfPartition {
    private final NavigableSet<Clustering<?>> rows;
    private boolean isWhole;

    OfPartition(ClusteringComparator comparator) {
      rows = new TreeSet<>(comparator);
    }
  }

  /**
   * Takes what has been written since the last look.
   *
   * @throws SnapshotTooOldException if something may have gone that nobody has written down
   */
  void look() {
    if (forgets) {
      searcher
          .versions()
          .changes()
          .awaitWriting(key -> !hasPassed(key) && searcher.selects(key))
          .forEach(key -> ofPartition(key).isWhole = true);
    }
    for (ChangeLog.Node node = lastSeen.next(); node != null; node = node.next()) {
      lastSeen = node;
      if (isSelected(node.change)) {
        OfPartition partition = ofPartition(node.change.key());
        if (isByPartition || node.change.row() == null) {
          partition.isWhole = true;
        } else {
          partition.rows.add(node.change.row());
        }
      }
    }
    searcher.versions().horizon().check(searcher.asOf());
    if (!searcher.versions().changes().isOn()) {
      throw new SnapshotTooOldException(searcher.asOf(), searcher.asOf() + 1); // no index now
    }
  }

  private OfPartition ofPartition(DecoratedKey key) {
    return partitions.computeIfAbsent(
        key, made -> new OfPartition(searcher.command().metadata().comparator));
  }

  private boolean hasPassed(DecoratedKey key) {
    return passed != null && key.compareTo(passed) <= 0;
  }

  private boolean isSelected(ChangeLog.Change change) {
    if (change.timestamp() <= searcher.asOf()
        || hasPassed(change.key())
        || !searcher.selects(change.key())) {
      return false;
    }
    if (change.row() == Clustering.STATIC_CLUSTERING) {
      return isByPartition;
    }
    return change.row() == null || searcher.selected(change.key()).selects(change.row());
  }

  /** Returns null if nothing more has changed. */
  DecoratedKey firstKey() {
    return partitions.isEmpty() ? null : partitions.firstKey();
  }

  boolean isWhole(DecoratedKey key) {
    OfPartition partition = partitions.get(key);
    return isByPartition || (partition != null && partition.isWhole);
  }

  /**
   * Rows that have changed.
   *
   * @param after null for the first
   * @param upTo null for the last
   */
  NavigableSet<Clustering<?>> rows(DecoratedKey key, Clustering<?> after, Clustering<?> upTo) {
    OfPartition partition = partitions.get(key);
    if (partition == null) {
      return new TreeSet<>(searcher.command().metadata().comparator);
    }
    NavigableSet<Clustering<?>> rows = partition.rows;
    rows = after == null ? rows : rows.tailSet(after, false);
    return upTo == null ? rows : rows.headSet(upTo, true);
  }

  void passed(DecoratedKey key) {
    passed = key;
    partitions.remove(key);
  }
}
