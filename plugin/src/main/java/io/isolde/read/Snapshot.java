// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import io.isolde.version.VersionIndex;
import java.util.function.UnaryOperator;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.SinglePartitionReadQuery;

/**
 * What one statement reads.
 *
 * @param asOf the timestamp in microseconds
 * @param versions of the table that is read
 * @param ownWrites of the transaction that reads
 * @param recorder is told what is read
 * @param replicas makes the query that reads from the table's replicas of one that is read by
 *     Cassandra
 */
public record Snapshot(
    long asOf,
    VersionIndex versions,
    OwnWrites ownWrites,
    ReadRecorder recorder,
    UnaryOperator<ReadQuery> replicas) {

  /** Reads from replicas as Cassandra does. */
  public static final UnaryOperator<ReadQuery> FROM_REPLICAS = query -> query;

  /** Whether one replica has all that a read sees, so that it can filter rows by their values. */
  boolean isOfOneReplica(ConsistencyLevel consistency) {
    return replicas != FROM_REPLICAS
        || consistency.blockFor(Keyspace.open(versions.table().keyspace).getReplicationStrategy())
            == 1;
  }

  /** Reads of one partition from this snapshot. */
  public SinglePartitionReadQuery of(SinglePartitionReadCommand command) {
    return new SnapshotPartitionQuery(command, this);
  }
}
