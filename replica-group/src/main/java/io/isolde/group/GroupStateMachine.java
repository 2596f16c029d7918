// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.Peer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
  private static final long LONGEST_BACK_OFF_MILLIS = 30_000;

  /** Asks a leader how far it is, durably. */
  interface Leader {
    CompletableFuture<Mark> state(Peer leader);
  }

  private final Storage storage;
  private final Leader leader;
  private final long maxLogBytes;
  private final LongConsumer onAnswered;
  private final AppliedWaiters waiters = new AppliedWaiters();
  private final Marks marks = new Marks();
  private final AtomicBoolean isFlushing = new AtomicBoolean();

  /** Guarded by itself, together with the index up to which it is right. */
  private final LogState state = new LogState();

  /** Only touched by the thread that applies. */
  private long bytesSinceMark;

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
  private static final class Marks implements StateMachineStorage {
    private volatile Path directory;
    private volatile Mark latest;

    @Override
    public void init(RaftStorage raftStorage) throws IOException {
      directory = raftStorage.getStorageDir().getStateMachineDir().toPath();
      latest = Mark.load(directory);
    }

    private synchronized void save(Mark mark) throws IOException {
      if (latest == null || mark.at().getIndex() > latest.at().getIndex()) {
        mark.save(directory);
        latest = mark;
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
    marks.init(raftStorage);
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
    Mark mark = marks.latest;
    if (mark == null) {
      return;
    }
    synchronized (state) {
      state.restore(mark.state());
      setLastAppliedTermIndex(mark.at());
      lastMicros = state.lastMicros();
    }
    waiters.applied(mark.at().getIndex());
    bytesSinceMark = 0;
  }

  @Override
  public StateMachineStorage getStateMachineStorage() {
    return marks;
  }

  @Override
  public SnapshotInfo getLatestSnapshot() {
    return marks.getLatestSnapshot();
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
    bytesSinceMark += data.size();
    waiters.applied(proto.getIndex());
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
    CompletableFuture<Void> told = waiters.await(index);
    waiters.applied(appliedIndex()); // It may have been applied meanwhile.
    return told.thenApply(done -> false);
  }

  /** When a write was applied, if it was and may still be repeated. */
  OptionalLong appliedAt(RequestId id) {
    synchronized (state) {
      return state.appliedAt(id);
    }
  }

  private Mark now() {
    synchronized (state) {
      return new Mark(getLastAppliedTermIndex(), state.save());
    }
  }

  /**
   * How far this replica is, as soon as the storage has all of that durably. Fails if it can't:
   * what a flush has left out is in no copy, and who goes on after this mark would not get it
   * either.
   */
  CompletableFuture<Mark> flushedNow() {
    Mark mark = now();
    return storage.flush().thenApply(done -> mark);
  }

  /** For a look from outside: does not wait while an entry is applied. */
  long lastMicros() {
    return lastMicros;
  }

  /** Up to where the log is not needed any more. */
  long markedIndex() {
    Mark mark = marks.latest;
    return mark == null ? RaftLog.INVALID_LOG_INDEX : mark.at().getIndex();
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
    if (bytesSinceMark >= maxLogBytes && isFlushing.compareAndSet(false, true)) {
      bytesSinceMark = 0;
      Mark mark = now();
      var unused = storage.flush().whenComplete((done, failure) -> flushed(mark, failure));
    }
    long marked = markedIndex();
    if (marked <= reported) {
      return RaftLog.INVALID_LOG_INDEX;
    }
    reported = marked;
    return marked;
  }

  /** What a flush or a copy comes to later is of no use: the log may be another one by then. */
  @Override
  public void close() throws IOException {
    isClosed = true;
    super.close();
  }

  private void flushed(Mark mark, Throwable failure) {
    try {
      if (isClosed) {
        return;
      }
      if (failure != null) {
        log.error("{}: the storage could not be flushed; the log is kept", getId(), failure);
      } else {
        marks.save(mark);
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
    CompletableFuture<Mark> copied =
        leader
            .state(from)
            .thenCompose(
                mark -> storage.copyFrom(from.address().getHostString()).thenApply(done -> mark));
    var unused = copied.whenComplete((mark, failure) -> copied(mark, failure, result));
    return result;
  }

  private void copied(Mark mark, Throwable failure, CompletableFuture<TermIndex> result) {
    Throwable problem = isClosed ? new IOException("This replica was stopped.") : failure;
    if (problem == null) {
      try {
        marks.save(mark);
        backOffMillis = FIRST_BACK_OFF_MILLIS;
        isCopying = false;
        log.info("{}: copied; going on after {}", getId(), mark.at());
        result.complete(mark.at());
        return;
      } catch (IOException e) {
        problem = e;
      }
    }
    log.warn("{}: could not copy; trying again in {} ms", getId(), backOffMillis, problem);
    Throwable told = problem;
    CompletableFuture.delayedExecutor(backOffMillis, TimeUnit.MILLISECONDS)
        .execute(() -> result.completeExceptionally(told));
    backOffMillis = Math.min(2 * backOffMillis, LONGEST_BACK_OFF_MILLIS);
  }
}
