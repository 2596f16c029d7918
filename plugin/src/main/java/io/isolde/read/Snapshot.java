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
 * @param found hears which rows are returned, if they are to be locked
 */
public record Snapshot(
    long asOf,
    VersionIndex versions,
    OwnWrites ownWrites,
    ReadRecorder recorder,
    UnaryOperator<ReadQuery> replicas,
    FoundRows found) {

  /** Reads from replicas as Cassandra does. */
  public static final UnaryOperator<ReadQuery> FROM_REPLICAS = query -> query;

  /** Of rows that are not to be locked. */
  public Snapshot(
      long asOf,
      VersionIndex versions,
      OwnWrites ownWrites,
      ReadRecorder recorder,
      UnaryOperator<ReadQuery> replicas) {
    this(asOf, versions, ownWrites, recorder, replicas, FoundRows.NONE);
  }

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
