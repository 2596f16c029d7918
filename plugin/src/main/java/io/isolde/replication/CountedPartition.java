// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.answer.Answers;
import io.isolde.group.ReplicaGroup;
import io.isolde.raft.GroupFailure;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.partitions.PartitionUpdate;

/** Adds to the counters of one partition, as the leader; may be tried several times. */
record CountedPartition(ReplicaGroup group, CounterRequest request)
    implements LeaderDecisions.OfPartition {
  private static final byte[] DONE = {};

  /**
   * Why a batch was not counted; null if all of it was. Whoever hears that nothing was done sends
   * it again, so that is said only if it is true of each partition.
   *
   * @param partitions all have ended
   */
  static Throwable failure(List<CompletableFuture<byte[]>> partitions) {
    List<Throwable> failures =
        partitions.stream()
            .filter(CompletableFuture::isCompletedExceptionally)
            .map(one -> Answers.cause(one.handle((done, failure) -> failure).join()))
            .toList();
    if (failures.isEmpty()) {
      return null;
    }
    boolean isNothingDone =
        failures.size() == partitions.size()
            && failures.stream().noneMatch(CountedPartition::isOutcomeUnknown);
    return isNothingDone || partitions.size() == 1
        ? failures.get(0)
        : new GroupFailure(
            GroupFailure.Reason.TIMED_OUT_UNKNOWN,
            "Some partitions of the batch may be counted, and others are not: "
                + failures.get(0).getMessage());
  }

  private static boolean isOutcomeUnknown(Throwable failure) {
    return !(failure instanceof GroupFailure known) || known.reason().isOutcomeUnknown();
  }

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
