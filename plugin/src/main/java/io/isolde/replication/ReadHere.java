// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.EmptyIterators;
import org.apache.cassandra.db.ReadCommand;
import org.apache.cassandra.db.ReadExecutionController;
import org.apache.cassandra.db.RegularAndStaticColumns;
import org.apache.cassandra.db.partitions.FilteredPartition;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.partitions.PartitionIterators;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterators;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.RowIterator;
import org.apache.cassandra.schema.TableMetadata;

/** What this node has, read while the client's rows are made; see {@link ReadFailures}. */
final class ReadHere implements PartitionIterator {
  private final ReadCommand command;
  private final ConsistencyLevel consistency;
  private final ReadExecutionController controller;
  private final PartitionIterator partitions;

  private ReadHere(
      ReadCommand command, ConsistencyLevel consistency, ReadExecutionController controller) {
    this.command = command;
    this.consistency = consistency;
    this.controller = controller;
    this.partitions =
        orRefused(
            () ->
                UnfilteredPartitionIterators.filter(
                    command.executeLocally(controller), command.nowInSec()));
  }

  static PartitionIterator of(ReadCommand command, ConsistencyLevel consistency) {
    ReadExecutionController controller = command.executionController();
    ReadHere here;
    try {
      here = new ReadHere(command, consistency, controller);
    } catch (RuntimeException | Error e) {
      controller.close();
      throw e;
    }
    return holdsWritesBack(command) ? copyOf(here) : here;
  }

  /** An index with a table of its own keeps memtables from being flushed while it is read. */
  private static boolean holdsWritesBack(ReadCommand command) {
    return command.indexQueryPlan() != null
        && command.indexQueryPlan().getIndexes().stream()
            .anyMatch(index -> index.getBackingTable().isPresent());
  }

  /** All of a page, as another node's answer would be: other leaders may be asked meanwhile. */
  private static PartitionIterator copyOf(PartitionIterator partitions) {
    List<PartitionIterator> copies = new ArrayList<>();
    try (partitions) {
      while (partitions.hasNext()) {
        try (RowIterator rows = partitions.next()) {
          copies.add(
              PartitionIterators.singletonIterator(FilteredPartition.create(rows).rowIterator()));
        }
      }
    }
    return copies.isEmpty() ? EmptyIterators.partition() : PartitionIterators.concat(copies);
  }

  private <T> T orRefused(Supplier<T> step) {
    try {
      return step.get();
    } catch (RuntimeException e) {
      throw ReadFailures.of(e, command, consistency);
    }
  }

  @Override
  public boolean hasNext() {
    return orRefused(partitions::hasNext);
  }

  @Override
  public RowIterator next() {
    return new Rows(orRefused(partitions::next));
  }

  @Override
  public void close() {
    try {
      partitions.close();
    } finally {
      controller.close();
    }
  }

  private final class Rows implements RowIterator {
    private final RowIterator rows;

    private Rows(RowIterator rows) {
      this.rows = rows;
    }

    @Override
    public boolean hasNext() {
      return orRefused(rows::hasNext);
    }

    @Override
    public Row next() {
      return orRefused(rows::next);
    }

    @Override
    public TableMetadata metadata() {
      return rows.metadata();
    }

    @Override
    public boolean isReverseOrder() {
      return rows.isReverseOrder();
    }

    @Override
    public RegularAndStaticColumns columns() {
      return rows.columns();
    }

    @Override
    public DecoratedKey partitionKey() {
      return rows.partitionKey();
    }

    @Override
    public Row staticRow() {
      return rows.staticRow();
    }

    @Override
    public void close() {
      rows.close();
    }
  }
}
