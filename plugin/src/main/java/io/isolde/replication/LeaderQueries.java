// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import com.google.common.collect.Iterators;
import com.google.common.collect.Lists;
import io.isolde.apply.Denylist;
import io.isolde.read.SequentialPartitions;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.DataRange;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.PartitionRangeReadCommand;
import org.apache.cassandra.db.PartitionRangeReadQuery;
import org.apache.cassandra.db.ReadCommand;
import org.apache.cassandra.db.ReadExecutionController;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.SinglePartitionReadQuery;
import org.apache.cassandra.db.filter.ClusteringIndexFilter;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.filter.DataLimits;
import org.apache.cassandra.db.filter.RowFilter;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterator;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.transport.Dispatcher;

/** Turns Cassandra's read queries into reads of leaders. */
final class LeaderQueries {
  /** Partitions that one query asks leaders for at the same time. */
  private static final int MAX_AT_ONCE = 64;

  private LeaderQueries() {}

  static ReadQuery of(ReadQuery query, StrongKeyspace keyspace) {
    if (query.isEmpty()) {
      return query;
    }
    if (query instanceof SinglePartitionReadCommand.Group group) {
      List<OfPartition> queries = new ArrayList<>(group.queries.size());
      group.queries.forEach(command -> queries.add(new OfPartition(command, keyspace)));
      return new OfPartitions(queries, group.limits());
    }
    if (query instanceof SinglePartitionReadCommand command) {
      return new OfPartition(command, keyspace);
    }
    if (query instanceof PartitionRangeReadCommand range) {
      return new OfRange(range, keyspace, true);
    }
    throw new AssertionError("unknown kind of read: " + query.getClass());
  }

  /**
   * Reads from any replica: ranges by the groups' ranges, since Cassandra goes by the ring's, which
   * change when nodes come and go.
   */
  static ReadQuery ofAnyReplica(ReadQuery query, StrongKeyspace keyspace) {
    return query instanceof PartitionRangeReadCommand range
        ? new OfRange(range, keyspace, false)
        : query;
  }

  /** What is the command's is left to it. */
  private abstract static class Query<C extends ReadCommand> implements ReadQuery {
    final C command;
    final StrongKeyspace keyspace;

    Query(C command, StrongKeyspace keyspace) {
      this.command = command;
      this.keyspace = keyspace;
    }

    @Override
    public DataLimits limits() {
      return command.limits();
    }

    @Override
    public TableMetadata metadata() {
      return command.metadata();
    }

    @Override
    public long nowInSec() {
      return command.nowInSec();
    }

    @Override
    public ColumnFilter columnFilter() {
      return command.columnFilter();
    }

    @Override
    public RowFilter rowFilter() {
      return command.rowFilter();
    }

    @Override
    public boolean selectsFullPartition() {
      return command.selectsFullPartition();
    }

    /** Warnings come with the leader's answer, and not in the headers of Cassandra's messages. */
    @Override
    public void trackWarnings() {}

    @Override
    public ReadExecutionController executionController() {
      return command.executionController();
    }

    @Override
    public PartitionIterator executeInternal(ReadExecutionController controller) {
      return command.executeInternal(controller);
    }

    @Override
    public UnfilteredPartitionIterator executeLocally(ReadExecutionController controller) {
      return command.executeLocally(controller);
    }
  }

  /** Rows of one partition. */
  private static final class OfPartition extends Query<SinglePartitionReadCommand>
      implements SinglePartitionReadQuery {
    OfPartition(SinglePartitionReadCommand command, StrongKeyspace keyspace) {
      super(command, keyspace);
    }

    @Override
    public PartitionIterator execute(
        ConsistencyLevel consistency, ClientState state, Dispatcher.RequestTime requestTime) {
      checkDenied();
      return begin().await(consistency);
    }

    void checkDenied() {
      Denylist.checkRead(metadata(), partitionKey());
    }

    LeaderReads.Begun begin() {
      return LeaderReads.begin(keyspace, keyspace.targetOf(partitionKey().getToken()), command);
    }

    @Override
    public DecoratedKey partitionKey() {
      return command.partitionKey();
    }

    @Override
    public ClusteringIndexFilter clusteringIndexFilter() {
      return command.clusteringIndexFilter();
    }

    @Override
    public SinglePartitionReadQuery withUpdatedLimit(DataLimits limits) {
      return new OfPartition(command.withUpdatedLimit(limits), keyspace);
    }

    @Override
    public SinglePartitionReadQuery forPaging(Clustering<?> lastReturned, DataLimits limits) {
      SinglePartitionReadCommand rest = command.forPaging(lastReturned, limits);
      return rest == null ? null : new OfPartition(rest, keyspace);
    }
  }

  /** Rows of several partitions, each as of its own moment: IN on the partition key. */
  private static final class OfPartitions extends SinglePartitionReadQuery.Group<OfPartition> {
    OfPartitions(List<OfPartition> queries, DataLimits limits) {
      super(queries, limits);
    }

    @Override
    public PartitionIterator execute(
        ConsistencyLevel consistency, ClientState state, Dispatcher.RequestTime requestTime) {
      if (queries.size() == 1) {
        return queries.get(0).execute(consistency, state, requestTime);
      }
      queries.forEach(OfPartition::checkDenied);
      return limits()
          .filter(
              new SequentialPartitions(sequentially(consistency)),
              nowInSec(),
              selectsFullPartition(),
              metadata().enforceStrictLiveness());
    }

    /** Asked for together, and opened one after the other. */
    private Iterator<SequentialPartitions.Source> sequentially(ConsistencyLevel consistency) {
      return Iterators.concat(
          Iterators.transform(
              Lists.partition(queries, MAX_AT_ONCE).iterator(),
              some -> begin(some, consistency).iterator()));
    }

    private static List<SequentialPartitions.Source> begin(
        List<OfPartition> some, ConsistencyLevel consistency) {
      List<SequentialPartitions.Source> begun = new ArrayList<>(some.size());
      for (OfPartition query : some) {
        LeaderReads.Begun read = query.begin();
        begun.add(() -> read.await(consistency));
      }
      return begun;
    }
  }

  /** Rows of a range of partitions, each group's as of its own moment. */
  private static final class OfRange extends Query<PartitionRangeReadCommand>
      implements PartitionRangeReadQuery {
    private final boolean isAtLeaders;

    OfRange(PartitionRangeReadCommand command, StrongKeyspace keyspace, boolean isAtLeaders) {
      super(command, keyspace);
      this.isAtLeaders = isAtLeaders;
    }

    @Override
    public PartitionIterator execute(
        ConsistencyLevel consistency, ClientState state, Dispatcher.RequestTime requestTime) {
      Denylist.checkRange(metadata(), command);
      return limits()
          .filter(
              SequentialRanges.read(
                  keyspace,
                  command,
                  (group, part) ->
                      isAtLeaders
                          ? LeaderReads.read(keyspace, keyspace.target(group), part, consistency)
                          : part.execute(consistency, state, requestTime)),
              nowInSec(),
              selectsFullPartition(),
              metadata().enforceStrictLiveness());
    }

    @Override
    public DataRange dataRange() {
      return command.dataRange();
    }

    @Override
    public PartitionRangeReadQuery withUpdatedLimit(DataLimits limits) {
      return new OfRange(command.withUpdatedLimit(limits), keyspace, isAtLeaders);
    }

    @Override
    public PartitionRangeReadQuery withUpdatedLimitsAndDataRange(
        DataLimits limits, DataRange range) {
      return new OfRange(
          command.withUpdatedLimitsAndDataRange(limits, range), keyspace, isAtLeaders);
    }
  }
}
