// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import java.util.ArrayList;
import java.util.List;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.SinglePartitionReadQuery;
import org.apache.cassandra.db.filter.DataLimits;
import org.apache.cassandra.db.filter.RowFilter;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.transport.Dispatcher;

/** Rows of several partitions, from a snapshot: IN on the partition key. */
final class SnapshotPartitionsQuery extends SinglePartitionReadQuery.Group<SnapshotPartitionQuery> {
  SnapshotPartitionsQuery(List<SnapshotPartitionQuery> queries, DataLimits limits) {
    super(queries, limits);
  }

  @Override
  public PartitionIterator execute(
      ConsistencyLevel consistency, ClientState state, Dispatcher.RequestTime requestTime) {
    if (queries.size() == 1) {
      return queries.get(0).execute(consistency, state, requestTime);
    }
    PartitionIterator all =
        queries.stream().allMatch(SnapshotQuery::isDirect)
            ? readTogether(consistency, state, requestTime)
            : readEach(consistency, state, requestTime);
    return limits()
        .filter(all, nowInSec(), selectsFullPartition(), metadata().enforceStrictLiveness());
  }

  private PartitionIterator readTogether(
      ConsistencyLevel consistency, ClientState state, Dispatcher.RequestTime requestTime) {
    List<SinglePartitionReadCommand> commands = new ArrayList<>(queries.size());
    for (SnapshotPartitionQuery query : queries) {
      query.record();
      commands.add(query.asOf(query.limits(), RowFilter.none()));
    }
    return queries
        .get(0)
        .snapshot
        .replicas()
        .apply(SinglePartitionReadCommand.Group.create(commands, limits()))
        .execute(consistency, state, requestTime);
  }

  private PartitionIterator readEach(
      ConsistencyLevel consistency, ClientState state, Dispatcher.RequestTime requestTime) {
    return new SequentialPartitions(
        queries.stream()
            .map(
                query ->
                    (SequentialPartitions.Source)
                        () -> query.execute(consistency, state, requestTime))
            .iterator());
  }
}
