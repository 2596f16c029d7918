// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import io.isolde.version.VersionIndex;
import java.util.function.UnaryOperator;
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

  /** Reads of one partition from this snapshot. */
  public SinglePartitionReadQuery of(SinglePartitionReadCommand command) {
    return new SnapshotPartitionQuery(command, this);
  }
}
