// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.Peer;
import io.isolde.raft.group.PositionWaiters;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.SnapshotRetentionPolicy;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.util.LifeCycle;
import org.apache.ratis.util.NetUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies the log to the storage. From time to time it has the storage made durable and lets the
 * log before go; if the leader has let go what this member needs, it copies the leader's storage.
 */
final class GroupStateMachine extends BaseStateMachine {
  private static final Logger log = LoggerFactory.getLogger(GroupStateMachine.class);
  private static final long FIRST_BACK_OFF_MILLIS = 1_000;
  private static final long MAX_BACK_OFF_MILLIS = 30_000;
  private static final int MAX_WAITERS = 1024;

  /** Asks a leader how far it is, durably. */
  interface Leader {
    CompletableFuture<Checkpoint> state(Peer leader);
  }

  private final Storage storage;
  private final Leader leader;
  private final long maxLogBytes;
  private final LongConsumer onAnswered;

  /** For entries of the log; those who wait have time limits of their own. */
  private final PositionWaiters<CompletableFuture<Boolean>> waiters =
      new PositionWaiters<>(MAX_WAITERS);

  private final Checkpoints checkpoints = new Checkpoints();
  private final AtomicBoolean isFlushing = new AtomicBoolean();

  /** Guarded by itself, together with the index up to which it is right. */
  private final LogState state = new LogState();

  /** Only touched by the thread that applies. */
  private long bytesSinceCheckpoint;

  private long reported = RaftLog.INVALID_LOG_INDEX;
  private volatile long backOffMillis = FIRST_BACK_OFF_MILLIS;
  private volatile boolean isClosed;
  private volatile boolean isCopying;
  private volatile long lastMicros;

  /**
   * A machine for a new replica.
   *
   * @param maxLogBytes so much is kept of the log before the storage is made durable
   * @param onAnswered hears of the indexes of the entries that this member made, when they are
   *     applied and about to be answered
   */
  GroupStateMachine(Storage storage, Leader leader, long maxLogBytes, LongConsumer onAnswered) {
    this.storage = storage;
    this.leader = leader;
    this.maxLogBytes = maxLogBytes;
    this.onAnswered = onAnswered;
  }

  /** What Ratis takes for the place of snapshots. */
  private static final class Checkpoints implements StateMachineStorage {
    private volatile Path directory;
    private volatile Checkpoint latest;

    @Override
    public void init(RaftStorage raftStorage) throws IOException {
      directory = raftStorage.getStorageDir().getStateMachineDir().toPath();
      latest = Checkpoint.load(directory);
    }

    private synchronized void save(Checkpoint checkpoint) throws IOException {
      if (latest == null || checkpoint.at().getIndex() > latest.at().getIndex()) {
        checkpoint.save(directory);
        latest = checkpoint;
      }
    }

    @Override
    public SnapshotInfo getLatestSnapshot() {
      return latest;
    }

    @Override
    public void format() {}

    /** There is only one. */
    @Override
    public void cleanupOldSnapshots(SnapshotRetentionPolicy policy) {}
  }

  @Override
  public void initialize(RaftServer server, RaftGroupId group, RaftStorage raftStorage)
      throws IOException {
    super.initialize(server, group, raftStorage);
    checkpoints.init(raftStorage);
    getLifeCycle().startAndTransition(this::restore, IOException.class);
  }

  @Override
  public void pause() {
    getLifeCycle().transition(LifeCycle.State.PAUSING);
    getLifeCycle().transition(LifeCycle.State.PAUSED);
  }

  @Override
  public void reinitialize() throws IOException {
    getLifeCycle().startAndTransition(this::restore, IOException.class);
  }

  private void restore() throws IOException {
    Checkpoint checkpoint = checkpoints.latest;
    if (checkpoint == null) {
      return;
    }
    synchronized (state) {
      state.restore(checkpoint.state());
      setLastAppliedTermIndex(checkpoint.at());
      lastMicros = state.lastMicros();
    }
    applied(checkpoint.at().getIndex());
    bytesSinceCheckpoint = 0;
  }

  @Override
  public StateMachineStorage getStateMachineStorage() {
    return checkpoints;
  }

  @Override
  public SnapshotInfo getLatestSnapshot() {
    return checkpoints.getLatestSnapshot();
  }

  @Override
  public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
    LogEntryProto proto = transaction.getLogEntry();
    var data = proto.getStateMachineLogEntry().getLogData();
    var request = transaction.getClientRequest();
    Entry entry =
        request != null && request.getMessage() instanceof Entry own
            ? own
            : Entry.decode(data.toByteArray());
    List<Long> timestamps = new ArrayList<>(entry.items().size());
    synchronized (state) {
      for (Entry.Item item : entry.items()) {
        timestamps.add(item.isOutdated(proto.getTerm()) ? Applied.OUTDATED : apply(item));
      }
      updateLastAppliedTermIndex(proto.getTerm(), proto.getIndex());
      lastMicros = state.lastMicros();
    }
    bytesSinceCheckpoint += data.size();
    applied(proto.getIndex());
    if (request != null) {
      onAnswered.accept(proto.getIndex());
    }
    return CompletableFuture.completedFuture(new Applied(timestamps));
  }

  private long apply(Entry.Item item) {
    LogState.Decision decision = state.next(item.id(), item.proposedMicros());
    if (!decision.isRepetition()) {
      state.pass(storage.apply(item.payload(), item.decoded(), decision.timestampMicros()));
    }
    return decision.timestampMicros();
  }

  /** The answer to an entry: the timestamps of its writes. */
  record Applied(List<Long> timestamps) implements Message {
    /** Instead of a timestamp: it was decided on in an earlier term, so nobody applies it. */
    static final long OUTDATED = -1;

    @Override
    public org.apache.ratis.thirdparty.com.google.protobuf.ByteString getContent() {
      return org.apache.ratis.thirdparty.com.google.protobuf.ByteString.EMPTY;
    }
  }

  /** The newest entry that is applied; -1 before the first. */
  long appliedIndex() {
    TermIndex last = getLastAppliedTermIndex();
    return last == null ? -1 : last.getIndex();
  }

  /** See {@link ReplicaGroup#whenApplied}. */
  CompletableFuture<Boolean> whenApplied(long index) {
    if (appliedIndex() >= index) {
      return CompletableFuture.completedFuture(true);
    }
    CompletableFuture<Boolean> answer = new CompletableFuture<>();
    if (!waiters.add(index, answer, Long.MAX_VALUE)) {
      return CompletableFuture.failedFuture(
          new GroupFailure(
              GroupFailure.Reason.OVERLOADED, "More than " + MAX_WAITERS + " wait for entries."));
    }
    applied(appliedIndex()); // It may have been applied meanwhile.
    return answer;
  }

  /** Up to and with this entry all are applied. */
  private void applied(long index) {
    waiters.reached(index).forEach(waiter -> waiter.complete(false));
  }

  /** When a write was applied, if it was and may still be repeated. */
  OptionalLong appliedAt(RequestId id) {
    synchronized (state) {
      return state.appliedAt(id);
    }
  }

  /** See {@link Storage#problem}. */
  Optional<String> problem() {
    return storage.problem();
  }

  private Checkpoint now() {
    synchronized (state) {
      return new Checkpoint(getLastAppliedTermIndex(), state.save());
    }
  }

  /**
   * How far this replica is, as soon as the storage has all of that durably. Fails if it can't:
   * what a flush has left out is in no copy, and who goes on after this mark would not get it
   * either.
   */
  CompletableFuture<Checkpoint> flushedNow() {
    Checkpoint checkpoint = now();
    return storage.flush().thenApply(done -> checkpoint);
  }

  /** For a look from outside: does not wait while an entry is applied. */
  long lastMicros() {
    return lastMicros;
  }

  /** Up to where the log is not needed any more. */
  long markedIndex() {
    Checkpoint checkpoint = checkpoints.latest;
    return checkpoint == null ? RaftLog.INVALID_LOG_INDEX : checkpoint.at().getIndex();
  }

  boolean isCopying() {
    return isCopying;
  }

  /**
   * Called after every few entries. The storage is made durable in the background; Ratis hears of
   * it with a later call, and lets the log go.
   */
  @Override
  public long takeSnapshot() {
    if (bytesSinceCheckpoint >= maxLogBytes && isFlushing.compareAndSet(false, true)) {
      bytesSinceCheckpoint = 0;
      Checkpoint checkpoint = now();
      var unused = storage.flush().whenComplete((done, failure) -> flushed(checkpoint, failure));
    }
    long checkpointed = markedIndex();
    if (checkpointed <= reported) {
      return RaftLog.INVALID_LOG_INDEX;
    }
    reported = checkpointed;
    return checkpointed;
  }

  /** What a flush or a copy comes to later is of no use: the log may be another one by then. */
  @Override
  public void close() throws IOException {
    isClosed = true;
    super.close();
  }

  private void flushed(Checkpoint checkpoint, Throwable failure) {
    try {
      if (isClosed) {
        return;
      }
      if (failure != null) {
        log.error("{}: the storage could not be flushed; the log is kept", getId(), failure);
      } else {
        checkpoints.save(checkpoint);
      }
    } catch (IOException e) {
      log.error("{}: no mark could be written; the log is kept", getId(), e);
    } finally {
      isFlushing.set(false);
    }
  }

  /**
   * The log that this member needs is gone. The leader's index is asked for before its storage is
   * copied, so that nothing is missing, if the storage has all up to there on disk, since that is
   * what is copied; what comes twice does no harm. Ratis asks again at once if it fails, so
   * failures are reported late.
   */
  @Override
  public CompletableFuture<TermIndex> notifyInstallSnapshotFromLeader(
      RoleInfoProto role, TermIndex firstInLog) {
    RaftPeerProto proto = role.getFollowerInfo().getLeaderInfo().getId();
    InetSocketAddress address = NetUtils.createSocketAddr(proto.getAddress());
    Peer from = new Peer(proto.getId().toStringUtf8(), address);
    log.info("{}: the log before {} is gone; copying what {} has", getId(), firstInLog, from);
    isCopying = true;
    CompletableFuture<TermIndex> result = new CompletableFuture<>();
    CompletableFuture<Checkpoint> copied =
        leader
            .state(from)
            .thenCompose(
                checkpoint ->
                    storage.copyFrom(from.address().getHostString()).thenApply(done -> checkpoint));
    var unused = copied.whenComplete((checkpoint, failure) -> copied(checkpoint, failure, result));
    return result;
  }

  private void copied(
      Checkpoint checkpoint, Throwable failure, CompletableFuture<TermIndex> result) {
    Throwable problem = isClosed ? new IOException("This replica was stopped.") : failure;
    if (problem == null) {
      try {
        checkpoints.save(checkpoint);
        backOffMillis = FIRST_BACK_OFF_MILLIS;
        isCopying = false;
        log.info("{}: copied; going on after {}", getId(), checkpoint.at());
        result.complete(checkpoint.at());
        return;
      } catch (IOException e) {
        problem = e;
      }
    }
    log.warn("{}: could not copy; trying again in {} ms", getId(), backOffMillis, problem);
    Throwable cause = problem;
    CompletableFuture.delayedExecutor(backOffMillis, TimeUnit.MILLISECONDS)
        .execute(() -> result.completeExceptionally(cause));
    backOffMillis = Math.min(2 * backOffMillis, MAX_BACK_OFF_MILLIS);
  }
}
