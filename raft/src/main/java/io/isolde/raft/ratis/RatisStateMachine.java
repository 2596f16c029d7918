// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.CopyingStateMachine;
import io.isolde.raft.LeaderListener;
import io.isolde.raft.LogData;
import io.isolde.raft.LogPosition;
import io.isolde.raft.StateMachine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.util.LifeCycle;
import org.apache.ratis.util.ProtoUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A state machine of ours, as Ratis has them. It also tells {@link LeaderListener}s: Ratis tells
 * the state machine alone, and does so holding its own lock, so listeners are called on another
 * thread.
 */
final class RatisStateMachine extends BaseStateMachine {
  private static final Logger logger = LoggerFactory.getLogger(RatisStateMachine.class);
  private static final long MAX_END_SECONDS = 10;
  private static final long LOOK_MILLIS = 2;

  private final StateMachine machine;
  private final RatisSnapshots snapshots;
  private final Executor notifier;
  private final List<LeaderListener> listeners = new CopyOnWriteArrayList<>();

  /** Null until Ratis has said where the log is. */
  private volatile AcknowledgedEntry acknowledged;

  /** Null until then, too. Ratis forgets it without closing it if the rest of a start fails. */
  private volatile RaftServer.Division division;

  /** Null between two entries. */
  private volatile TermIndex applying;

  /** Whether the machine has failed at an entry. */
  private volatile boolean hasFailed;

  /** What went wrong with the log; Ratis does not write to it any more. */
  private volatile String failure;

  /** Up to where the state is saved, as seen last. Only touched by the thread that applies. */
  private long saved = RaftLog.INVALID_LOG_INDEX;

  RatisStateMachine(StateMachine machine, Executor notifier) {
    this.machine = machine;
    this.snapshots = RatisSnapshots.of(machine);
    this.notifier = notifier;
  }

  /** What this node has told others to have. */
  AcknowledgedEntry acknowledged() {
    return acknowledged;
  }

  /** See {@link StateMachine#canApply}. */
  boolean canApply() {
    return machine.canApply();
  }

  /** Why nothing can be written to the log any more; empty if it can. */
  Optional<String> failure() {
    return Optional.ofNullable(failure);
  }

  void failed(Throwable cause) {
    if (failure == null) {
      failure = String.valueOf(cause.getMessage());
    }
  }

  @Override
  public void initialize(RaftServer server, RaftGroupId group, RaftStorage storage)
      throws IOException {
    super.initialize(server, group, storage);
    division = server.getDivision(group);
    acknowledged = AcknowledgedEntry.open(storage.getStorageDir().getRoot().toPath());
    snapshots.init(storage);
    getLifeCycle().startAndTransition(this::restore, IOException.class);
  }

  /** Another state is about to come, of the leader. */
  @Override
  public void pause() {
    getLifeCycle().transition(LifeCycle.State.PAUSING);
    getLifeCycle().transition(LifeCycle.State.PAUSED);
  }

  /** It has come. */
  @Override
  public void reinitialize() throws IOException {
    getLifeCycle().startAndTransition(this::restore, IOException.class);
  }

  private void restore() throws IOException {
    LogPosition at = snapshots.restore();
    if (!at.equals(LogPosition.NONE)) {
      setLastAppliedTermIndex(RatisTypes.ratis(at));
      logger.info("{}: the state of {} is restored", getGroupId(), at);
    }
  }

  /** Lets go of the directory and of memory, after a start that has failed. */
  void letGo() {
    try {
      close();
    } catch (IOException e) {
      logger.warn("A state machine could not be closed", e);
    }
    if (division != null) {
      division.close();
    }
  }

  @Override
  public void close() throws IOException {
    machine.close();
    if (acknowledged != null) {
      acknowledged.close();
    }
  }

  @Override
  public TransactionContext startTransaction(RaftClientRequest request) throws IOException {
    if (request instanceof Proposal proposal) {
      proposal.started();
    }
    return super.startTransaction(request);
  }

  /**
   * Ratis has a follower start each entry when it appends it, and keeps what this returns until the
   * entry is applied. So that has no data: a follower that applies slowly would fill its memory.
   * The log has the data, and bounds what it keeps in memory.
   */
  @Override
  public TransactionContext startTransaction(LogEntryProto entry, RaftPeerRole role) {
    LogCache.trim(division);
    StateMachineLogEntryProto written = entry.getStateMachineLogEntry();
    return TransactionContext.newBuilder()
        .setStateMachine(this)
        .setLogEntry(
            LogEntryProto.newBuilder()
                .setTerm(entry.getTerm())
                .setIndex(entry.getIndex())
                .setStateMachineLogEntry(
                    StateMachineLogEntryProto.newBuilder()
                        .setClientId(written.getClientId())
                        .setCallId(written.getCallId()))
                .build())
        .setServerRole(role)
        .build();
  }

  @Override
  public CompletableFuture<Message> applyTransaction(TransactionContext context) {
    TermIndex at = TermIndex.valueOf(context.getLogEntry());
    counts(at);
    LogEntryProto entry = withData(context); // Before its file may leave the memory.
    LogCache.trim(division);
    LogData own = context.getClientRequest() instanceof Proposal proposal ? proposal.data() : null;
    applying = at;
    try {
      machine.apply(
          RatisTypes.position(at),
          entry.getStateMachineLogEntry().getLogData().asReadOnlyByteBuffer(),
          own);
    } catch (RuntimeException | Error e) {
      hasFailed = true;
      throw e;
    } finally {
      applying = null;
    }
    updateLastAppliedTermIndex(at);
    return CompletableFuture.completedFuture(Message.EMPTY);
  }

  /**
   * Returns when the entry that is being applied has ended, or after a while. Ratis 3.3.0 closes a
   * replica whose machine fails. If it is being closed already, it waits for that machine for ever;
   * so a failure must come first.
   */
  void awaitEndOfEntry() throws InterruptedException {
    long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(MAX_END_SECONDS);
    TermIndex last = applying;
    while (((last != null && last.equals(applying)) || (hasFailed && isAlive()))
        && System.nanoTime() - endNanos < 0) {
      Thread.sleep(LOOK_MILLIS);
    }
  }

  private boolean isAlive() {
    RaftServer.Division running = division;
    return running != null && running.getInfo().isAlive();
  }

  private LogEntryProto withData(TransactionContext context) {
    LogEntryProto entry = context.getLogEntry();
    if (context.getClientRequest() != null) {
      return entry; // Of a leader, who bounds its requests.
    }
    try {
      return division.getRaftLog().get(entry.getIndex());
    } catch (IOException e) {
      throw new UncheckedIOException("Entry " + entry.getIndex() + " of the log can't be read.", e);
    }
  }

  @Override
  public void notifyTermIndexUpdated(long newTerm, long index) {
    counts(TermIndex.valueOf(newTerm, index));
    machine.skip(new LogPosition(newTerm, index));
    super.notifyTermIndexUpdated(newTerm, index);
  }

  private void counts(TermIndex entry) {
    try {
      acknowledged.raise(entry);
    } catch (IOException e) {
      failed(e);
    }
  }

  @Override
  public CompletableFuture<Void> truncate(long from) {
    try {
      TermIndex before = division.getRaftLog().getTermIndex(from - 1);
      acknowledged.lower(before == null ? TermIndex.valueOf(0, from - 1) : before);
    } catch (IOException e) {
      failed(e);
    }
    return super.truncate(from);
  }

  /**
   * Ratis calls this after every few entries, and lets the log go up to what it returns. For a
   * state that is copied as a whole, that is what was saved the time before. Else a follower that
   * is just a little behind when the leader saves its state would have to copy all of it.
   */
  @Override
  public long takeSnapshot() {
    snapshots.saveIfDue(RatisTypes.position(getLastAppliedTermIndex()));
    SnapshotInfo latest = snapshots.getLatestSnapshot();
    if (latest == null || latest.getIndex() <= saved) {
      return RaftLog.INVALID_LOG_INDEX;
    }
    long savedBefore = saved;
    saved = latest.getIndex();
    return machine instanceof CopyingStateMachine ? savedBefore : saved;
  }

  @Override
  public StateMachineStorage getStateMachineStorage() {
    return snapshots;
  }

  /** Ratis asks only without {@code installSnapshots}: of a state machine that copies. */
  @Override
  public CompletableFuture<TermIndex> notifyInstallSnapshotFromLeader(
      RoleInfoProto role, TermIndex firstInLog) {
    RaftPeer leader = ProtoUtils.toRaftPeer(role.getFollowerInfo().getLeaderInfo().getId());
    return ((CopyingStateMachine) machine)
        .copyFrom(RatisTypes.peer(leader))
        .thenApply(RatisTypes::ratis);
  }

  void add(LeaderListener listener) {
    listeners.add(listener);
  }

  private void inform(Consumer<LeaderListener> message) {
    try {
      notifier.execute(
          () -> {
            for (LeaderListener listener : listeners) {
              try {
                message.accept(listener);
              } catch (RuntimeException e) {
                logger.error("A leader listener failed", e);
              }
            }
          });
    } catch (RejectedExecutionException e) {
      logger.debug("The node is closed; listeners are not told", e);
    }
  }

  @Override
  public void notifyLeaderReady() {
    long readyTerm = division.getInfo().getCurrentTerm();
    inform(listener -> listener.leaderReady(readyTerm));
  }

  @Override
  public void notifyNotLeader(Collection<TransactionContext> pending) {
    inform(LeaderListener::steppedDown);
  }

  @Override
  public void notifyLogFailed(Throwable cause, LogEntryProto entry) {
    failed(cause);
  }
}
