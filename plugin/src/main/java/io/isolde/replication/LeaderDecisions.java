// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import io.isolde.apply.Stamp;
import io.isolde.group.ReplicaGroup;
import io.isolde.group.RequestId;
import io.isolde.peers.SchemaAgreement;
import io.isolde.raft.GroupFailure;
import io.isolde.statement.CassandraConditions;
import io.isolde.statement.StatementMutations;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.ReadExecutionController;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.partitions.FilteredPartition;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.partitions.PartitionIterators;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.RowIterator;
import org.apache.cassandra.service.paxos.Ballot;
import org.apache.cassandra.service.paxos.BallotGenerator;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.transport.ProtocolVersion;
import org.apache.cassandra.transport.messages.ResultMessage;

/**
 * Decides, as the leader, on statements that read before they write: IF, lists by index or value,
 * and counters. The read is of this node alone; nobody else writes to the partition between it and
 * the write's place in the log.
 */
final class LeaderDecisions {
  private static final int THREADS = 32;
  private static final int MAX_WAITING = 4096;

  /** Below what an attempt may take. */
  private static final long SCHEMA_MILLIS = 500;

  private final long timeoutMillis;

  /** Decisions wait for the log, so they have threads of their own. */
  private final ThreadPoolExecutor threads =
      new ThreadPoolExecutor(
          THREADS,
          THREADS,
          10,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(MAX_WAITING),
          new ThreadFactoryBuilder().setNameFormat("IsoldeDecide-%d").setDaemon(true).build());

  /** Those under way; a further attempt that comes meanwhile gets the answer of the one before. */
  private final ConcurrentMap<Running, CompletableFuture<byte[]>> running =
      new ConcurrentHashMap<>();

  /** Which decision: the same in every attempt but the first, whose answer may be in no log. */
  private record Running(ReplicaGroup group, long session, long number, boolean mayBeRepeated) {}

  /** A decision on what one partition has. */
  interface OfPartition extends ReplicaGroup.Decision<byte[]> {
    /** The partition's key. */
    DecoratedKey key();
  }

  LeaderDecisions(long timeoutMillis) {
    this.timeoutMillis = timeoutMillis;
    threads.allowCoreThreadTimeOut(true);
  }

  /** See {@link ReplicaGroup#decide}. */
  CompletableFuture<byte[]> decide(
      ReplicaGroup group, RequestId id, boolean mayBeRepeated, byte[] request) {
    Running decision = new Running(group, id.session(), id.number(), mayBeRepeated);
    CompletableFuture<byte[]> answer = new CompletableFuture<>();
    CompletableFuture<byte[]> before = running.putIfAbsent(decision, answer);
    if (before != null) {
      return before.copy();
    }
    var unused = answer.whenComplete((done, failure) -> running.remove(decision, answer));
    start(decision, id, request, answer);
    return answer.copy();
  }

  private void start(
      Running decision, RequestId id, byte[] request, CompletableFuture<byte[]> answer) {
    ReplicaGroup group = decision.group();
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    try {
      threads.execute(
          () -> {
            try {
              OfPartition understood = understood(group, request);
              answer.complete(
                  group.decide(
                      id,
                      decision.mayBeRepeated(),
                      keyHash(understood.key()),
                      deadlineNanos,
                      understood));
            } catch (RuntimeException | Error e) { // Else further attempts wait for this one.
              answer.completeExceptionally(
                  e instanceof GroupFailure
                      ? e
                      : new GroupFailure(GroupFailure.Reason.REFUSED, e.getMessage()));
            }
          });
    } catch (RejectedExecutionException e) {
      answer.completeExceptionally(
          new GroupFailure(GroupFailure.Reason.OVERLOADED, "Too many decisions wait."));
    }
  }

  /** Waits a moment for a change of the schema, and then has it sent again. */
  private static OfPartition understood(ReplicaGroup group, byte[] request) {
    AtomicReference<RuntimeException> failure = new AtomicReference<>();
    return ShortWait.until(() -> understood(group, request, failure), () -> true, SCHEMA_MILLIS)
        .orElseThrow(
            () ->
                SchemaAgreement.hasBeenReached()
                    ? failure.get()
                    : new GroupFailure(
                        GroupFailure.Reason.NOT_LEADER,
                        "The leader has not heard of a change of the schema yet.",
                        group.leader(),
                        failure.get()));
  }

  private static Optional<OfPartition> understood(
      ReplicaGroup group, byte[] request, AtomicReference<RuntimeException> failure) {
    try {
      return Optional.of(
          CounterRequest.isOne(request)
              ? new CountedPartition(group, CounterRequest.decode(request))
              : new OnPartition(group, DecidedStatement.of(DecisionRequest.decode(request))));
    } catch (DecidedStatement.UnknownHereException e) {
      failure.set((RuntimeException) e.getCause());
      return Optional.empty();
    }
  }

  static int keyHash(DecoratedKey key) {
    return key.getToken().hashCode();
  }

  /** One statement on its partition; may be tried several times. */
  private record OnPartition(ReplicaGroup group, DecidedStatement statement)
      implements OfPartition {
    @Override
    public DecoratedKey key() {
      return statement.key();
    }

    @Override
    public ReplicaGroup.Outcome<byte[]> decide() {
      return statement.conditional().isPresent()
          ? onCondition(statement.conditional().get())
          : unconditionally();
    }

    private ReplicaGroup.Outcome<byte[]> onCondition(CassandraConditions.Conditional conditional) {
      FilteredPartition current = current(conditional);
      if (!conditional.request().appliesTo(current)) {
        try (RowIterator rows = current.rowIterator()) {
          return new ReplicaGroup.Outcome<>(result(rows), null, null);
        }
      }
      // Above all that this log has placed in lists, also by a leader whose clock is ahead.
      Ballot ballot = BallotGenerator.Global.atUnixMicros(group.nextMicros(), Ballot.Flag.NONE);
      PartitionUpdate update =
          conditional.request().makeUpdates(current, statement.state().getClientState(), ballot);
      return outcome(result(null), List.of(update));
    }

    private FilteredPartition current(CassandraConditions.Conditional conditional) {
      SinglePartitionReadCommand read = conditional.request().readCommand(statement.nowInSeconds());
      try (ReadExecutionController controller = read.executionController();
          PartitionIterator rows = read.executeInternal(controller)) {
        return FilteredPartition.create(PartitionIterators.getOnlyElement(rows, read));
      }
    }

    private ReplicaGroup.Outcome<byte[]> unconditionally() {
      List<PartitionUpdate> updates =
          StatementMutations.of(
              statement.statements(),
              statement.state().getClientState(),
              statement.options(),
              true,
              Stamp.PROVISIONAL_MICROS,
              statement.nowInSeconds(),
              Dispatcher.RequestTime.forImmediateExecution());
      return outcome(encode(new ResultMessage.Void()), updates);
    }

    private ReplicaGroup.Outcome<byte[]> outcome(byte[] answer, List<PartitionUpdate> made) {
      long micros = group.nextMicros();
      List<PartitionUpdate> updates =
          made.stream()
              .map(update -> DecidedLists.placed(update, micros, statement.nowInSeconds()))
              .toList();
      if (updates.stream().allMatch(PartitionUpdate::isEmpty)) {
        return new ReplicaGroup.Outcome<>(answer, null, null);
      }
      Payload.Updates decided =
          new Payload.Updates(updates, Payload.Timestamps.OF_THE_LOG_BUT_PLACED);
      return new ReplicaGroup.Outcome<>(answer, Payload.encode(decided), decided);
    }

    /** Under the request's own name only a write is in the log. */
    @Override
    public byte[] repeated() {
      return statement.conditional().isPresent() ? result(null) : encode(new ResultMessage.Void());
    }

    /** With the row as it is now, if that does not contradict the answer. */
    @Override
    public byte[] declined() {
      if (statement.conditional().isEmpty()) {
        return encode(new ResultMessage.Void());
      }
      FilteredPartition current = current(statement.conditional().get());
      if (statement.conditional().get().request().appliesTo(current)) {
        throw new GroupFailure(
            GroupFailure.Reason.TIMED_OUT_UNKNOWN,
            "The answer to an earlier attempt, that nothing is written, came too late.");
      }
      try (RowIterator rows = current.rowIterator()) {
        return result(rows);
      }
    }

    @Override
    public byte[] nothing() {
      return Payload.encode(new Payload.Updates(List.of(), Payload.Timestamps.OF_THE_LOG));
    }

    private byte[] result(RowIterator current) {
      return encode(
          new ResultMessage.Rows(
              CassandraConditions.result(
                  statement.conditional().orElseThrow(),
                  current,
                  statement.state(),
                  statement.options().forStatement(0))));
    }

    private byte[] encode(ResultMessage message) {
      return LeaderDecisions.encode(message, statement.protocolVersion());
    }
  }

  private static byte[] encode(ResultMessage message, int protocolVersion) {
    ProtocolVersion version = ProtocolVersion.decode(protocolVersion, true);
    ByteBuf out = Unpooled.buffer(256);
    ResultMessage.codec.encode(message, out, version);
    byte[] bytes = new byte[out.readableBytes()];
    out.readBytes(bytes);
    return bytes;
  }

  static ResultMessage decode(byte[] answer, int protocolVersion) {
    return ResultMessage.codec.decode(
        Unpooled.wrappedBuffer(answer), ProtocolVersion.decode(protocolVersion, true));
  }
}
