// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.conflict.ReadSet;
import io.isolde.conflict.RowIds;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.configuration.ConfigurationIds;
import io.isolde.replication.GroupWatches;
import io.isolde.replication.ReplicatedLogStrategy;
import io.isolde.transaction.Tables;
import io.isolde.watch.Watches;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.OptionalInt;
import java.util.Set;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.PartitionRangeReadCommand;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.Slice;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.marshal.UUIDType;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.FBUtilities;

/**
 * What a watch is of: rows of a table, or nodes and replica groups of the configuration.
 *
 * @param ids those of the changes that it is notified of
 * @param group the replica group that has all of that; empty if there is none, or more than one
 */
record WatchScope(Set<Long> ids, OptionalInt group) {
  private static final String CONFIGURATION = "isolde";
  private static final String NODES = "ring";
  private static final String GROUPS = "groups";

  /**
   * Of what a SELECT reads.
   *
   * @throws IsoldeException NOT_TRANSACTIONAL; INVALID if that is nothing, or too much
   */
  static WatchScope of(SelectStatement select, QueryOptions options, GroupWatches groups) {
    ReadQuery query = select.getQuery(options, FBUtilities.nowInSeconds());
    TableMetadata table = select.table;
    Set<Long> ids = isConfiguration(table) ? ofConfiguration(table, query) : ofRows(query);
    if (ReplicatedLogStrategy.isOf(table)) {
      ids.add(RowIds.table(table.id));
    } else if (!isConfiguration(table)) {
      var unused = Tables.requireTransactional(table);
    }
    if (ids.isEmpty() || ids.size() > Watches.MAX_IDS) {
      throw IsoldeException.invalid(
          "A watch is of 1 to "
              + Watches.MAX_IDS
              + " rows and ranges, not "
              + ids.size()
              + "; watch whole partitions, or the table.");
    }
    return new WatchScope(ids, groups.groupOf(query));
  }

  static boolean isConfiguration(TableMetadata table) {
    return table.isVirtual()
        && table.keyspace.equals(CONFIGURATION)
        && (table.name.equals(NODES) || table.name.equals(GROUPS));
  }

  private static Set<Long> ofConfiguration(TableMetadata table, ReadQuery query) {
    boolean isOfNodes = table.name.equals(NODES);
    if (query instanceof PartitionRangeReadCommand) {
      return isOfNodes ? ConfigurationIds.ofNodes() : ConfigurationIds.ofGroups();
    }
    Set<Long> ids = new HashSet<>();
    if (!(query instanceof SinglePartitionReadCommand.Group group)) {
      return ids;
    }
    for (SinglePartitionReadCommand command : group.queries) {
      ByteBuffer key = command.partitionKey().getKey();
      if (isOfNodes) {
        ids.addAll(ConfigurationIds.ofNode(UUIDType.instance.compose(key)));
      } else {
        addGroups(ids, UTF8Type.instance.compose(key), command);
      }
    }
    return ids;
  }

  private static void addGroups(
      Set<Long> ids, String keyspace, SinglePartitionReadCommand command) {
    for (Slice slice : command.clusteringIndexFilter().getSlices(command.metadata())) {
      boolean isOfOneNumber =
          slice.start().size() > 0
              && slice.end().size() > 0
              && slice.start().bufferAt(0).equals(slice.end().bufferAt(0));
      Integer number = isOfOneNumber ? Int32Type.instance.compose(slice.start().bufferAt(0)) : null;
      ids.addAll(
          number != null
              ? ConfigurationIds.ofGroup(keyspace, number)
              : ConfigurationIds.ofKeyspace(keyspace));
    }
  }

  /** What a serializable transaction that had read this would have conflicts with. */
  private static Set<Long> ofRows(ReadQuery query) {
    ReadSet read = new ReadSet(Integer.MAX_VALUE);
    if (query instanceof SinglePartitionReadCommand.Group group) {
      group.queries.forEach(command -> record(command, read));
    } else if (query instanceof PartitionRangeReadCommand range) {
      read.range(range.metadata(), range.dataRange());
    }
    Set<Long> ids = new HashSet<>(2 * read.size());
    for (long id : read.ids()) {
      ids.add(id);
    }
    return ids;
  }

  private static void record(SinglePartitionReadCommand command, ReadSet read) {
    TableMetadata table = command.metadata();
    boolean hasStatics = !command.columnFilter().fetchedColumns().statics.isEmpty();
    read.partition(table, command.partitionKey(), command.clusteringIndexFilter(), hasStatics);
  }
}
