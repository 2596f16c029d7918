// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.group.ReplicaGroup;
import java.util.List;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.partitions.PartitionUpdate;

/** Adds to the counters of one partition, as the leader; may be tried several times. */
record CountedPartition(ReplicaGroup group, CounterRequest request)
    implements LeaderDecisions.OfPartition {
  private static final byte[] DONE = {};

  @Override
  public DecoratedKey key() {
    return request.updates().get(0).partitionKey();
  }

  @Override
  public ReplicaGroup.Outcome<byte[]> decide() {
    long micros = group.nextMicros();
    List<PartitionUpdate> counted =
        request.updates().stream()
            .map(update -> DecidedCounters.counted(update, micros, request.nowInSeconds()))
            .toList();
    Payload.Updates decided = new Payload.Updates(counted, Payload.Timestamps.OF_THE_LOG);
    return new ReplicaGroup.Outcome<>(DONE, Payload.encode(decided), decided);
  }

  @Override
  public byte[] repeated() {
    return DONE;
  }

  /** No attempt is answered so: each writes. */
  @Override
  public byte[] declined() {
    throw new IllegalStateException("Counters were declined.");
  }

  @Override
  public byte[] nothing() {
    throw new IllegalStateException("Counters are always written.");
  }
}
