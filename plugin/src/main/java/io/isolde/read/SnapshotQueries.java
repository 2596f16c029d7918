// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import java.util.ArrayList;
import java.util.List;
import org.apache.cassandra.db.PartitionRangeReadCommand;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.SinglePartitionReadCommand;

/** Turns Cassandra's read queries into reads of a snapshot. */
final class SnapshotQueries {
  private SnapshotQueries() {}

  static ReadQuery of(ReadQuery query, Snapshot snapshot) {
    if (query.isEmpty()) {
      return query;
    }
    if (query instanceof SinglePartitionReadCommand.Group group) {
      List<SnapshotPartitionQuery> queries = new ArrayList<>(group.queries.size());
      for (SinglePartitionReadCommand command : group.queries) {
        queries.add(new SnapshotPartitionQuery(command, snapshot));
      }
      return new SnapshotPartitionsQuery(queries, group.limits());
    }
    if (query instanceof PartitionRangeReadCommand range) {
      return new SnapshotRangeQuery(range, snapshot);
    }
    throw new AssertionError("unknown kind of read: " + query.getClass());
  }
}
