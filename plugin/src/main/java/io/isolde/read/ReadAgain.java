// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import com.google.common.collect.Iterators;
import com.google.common.collect.Lists;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.filter.ClusteringIndexNamesFilter;
import org.apache.cassandra.db.filter.DataLimits;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.rows.RowIterator;

/**
 * Reads rows that replicas propose by their keys, so that each is what a quorum says it is. If all
 * rows of a partition match or none does, a replica may not know of all of them: then whole
 * partitions are read.
 */
final class ReadAgain implements UnaryOperator<PartitionIterator> {
  /** Partitions that are asked for at the same time. */
  private static final int MAX_AT_ONCE = 64;

  private final SnapshotQuery<?> query;
  private final ReadFor reader;
  private final boolean isByPartition;

  /** The last partition that was read as a whole: the next chunk may begin with more of it. */
  private DecoratedKey lastWhole;

  ReadAgain(SnapshotQuery<?> query, ReadFor reader, boolean isByPartition) {
    this.query = query;
    this.reader = reader;
    this.isByPartition = isByPartition;
  }

  @Override
  public PartitionIterator apply(PartitionIterator proposed) {
    return new SequentialPartitions(
        isByPartition ? partitions(proposed).iterator() : rows(proposed));
  }

  private List<SequentialPartitions.Source> partitions(PartitionIterator proposed) {
    List<SequentialPartitions.Source> reads = new ArrayList<>();
    try (proposed) {
      while (proposed.hasNext()) {
        try (RowIterator partition = proposed.next()) {
          DecoratedKey key = partition.partitionKey();
          names(partition); // The pager counts what is taken.
          if (!key.equals(lastWhole)) {
            lastWhole = key;
            reads.add(() -> reader.chunks(query.wholePartition(key)));
          }
        }
      }
    }
    return reads;
  }

  private Iterator<SequentialPartitions.Source> rows(PartitionIterator proposed) {
    List<SinglePartitionReadCommand> reads = new ArrayList<>();
    try (proposed) {
      while (proposed.hasNext()) {
        try (RowIterator partition = proposed.next()) {
          reads.add(
              query.rowsOf(
                  partition.partitionKey(),
                  new ClusteringIndexNamesFilter(names(partition), false)));
        }
      }
    }
    return Iterators.transform(
        Lists.partition(reads, MAX_AT_ONCE).iterator(), some -> () -> together(some));
  }

  private NavigableSet<Clustering<?>> names(RowIterator partition) {
    NavigableSet<Clustering<?>> rows = new TreeSet<>(query.metadata().comparator);
    while (partition.hasNext()) {
      rows.add(partition.next().clustering());
    }
    return rows;
  }

  private PartitionIterator together(List<SinglePartitionReadCommand> reads) {
    return reader.execute(
        query
            .snapshot
            .replicas()
            .apply(SinglePartitionReadCommand.Group.create(reads, DataLimits.NONE)));
  }
}
