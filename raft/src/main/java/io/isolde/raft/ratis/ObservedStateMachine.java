// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.LeaderListener;
import io.isolde.raft.Peer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotResult;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.StateMachine;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.thirdparty.com.google.protobuf.InvalidProtocolBufferException;
import org.apache.ratis.util.LifeCycle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A state machine that also tells {@link LeaderListener}s. Ratis tells the state machine alone, and
 * does so holding its own lock, so listeners are called on another thread.
 */
final class ObservedStateMachine implements StateMachine {
  private static final Logger logger = LoggerFactory.getLogger(ObservedStateMachine.class);

  private final StateMachine machine;
  private final Executor notifier;
  private final List<LeaderListener> listeners = new CopyOnWriteArrayList<>();
  private final EventApi events = new Events();
  private final DataApi data = new Data();
  private final LeaderEventApi leaderEvents = new LeaderEvents();

  /** Set before Ratis starts: how to find a member's address, and the term. */
  private volatile Function<RaftPeerId, Peer> members = id -> null;

  private volatile LongSupplier term = () -> 0;
  private volatile LongFunction<TermIndex> log = index -> null;

  /** Null until Ratis has said where the log is. */
  private volatile AcknowledgedEntry acknowledged;

  /** Which Ratis forgets without closing it if the rest of a start fails. */
  private volatile RaftServer.Division division;

  /** What went wrong with the log; Ratis does not write to it any more. */
  private volatile String failure;

  ObservedStateMachine(StateMachine machine, Executor notifier) {
    this.machine = machine;
    this.notifier = notifier;
  }

  void observe(
      Function<RaftPeerId, Peer> newMembers, LongSupplier newTerm, LongFunction<TermIndex> newLog) {
    members = newMembers;
    term = newTerm;
    log = newLog;
  }

  /** What this node has told others to have. */
  AcknowledgedEntry acknowledged() {
    return acknowledged;
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

  private void counts(TermIndex entry) {
    try {
      acknowledged.raise(entry);
    } catch (IOException e) {
      failed(e);
    }
  }

  private final class Data implements DataApi {
    @Override
    public CompletableFuture<Void> truncate(long from) {
      try {
        TermIndex before = log.apply(from - 1);
        acknowledged.lower(before == null ? TermIndex.valueOf(0, from - 1) : before);
      } catch (IOException e) {
        failed(e);
      }
      return machine.data().truncate(from);
    }
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

  private final class Events implements EventApi {
    @Override
    public void notifyLeaderChanged(RaftGroupMemberId self, RaftPeerId leader) {
      machine.event().notifyLeaderChanged(self, leader);
      inform(
          listener -> {
            Peer peer = members.apply(leader);
            if (peer != null) {
              listener.leaderChanged(peer);
            }
          });
    }

    @Override
    public void notifyTermIndexUpdated(long newTerm, long index) {
      counts(TermIndex.valueOf(newTerm, index));
      machine.event().notifyTermIndexUpdated(newTerm, index);
    }

    @Override
    public void notifyConfigurationChanged(long inTerm, long index, RaftConfigurationProto conf) {
      machine.event().notifyConfigurationChanged(inTerm, index, conf);
    }

    @Override
    public void notifyGroupRemove() {
      machine.event().notifyGroupRemove();
    }

    @Override
    public void notifyLogFailed(Throwable cause, LogEntryProto entry) {
      failed(cause);
      machine.event().notifyLogFailed(cause, entry);
    }

    @Override
    public void notifySnapshotInstalled(InstallSnapshotResult result, long index, RaftPeer peer) {
      machine.event().notifySnapshotInstalled(result, index, peer);
    }

    @Override
    public void notifyServerShutdown(RoleInfoProto role, boolean allServer) {
      machine.event().notifyServerShutdown(role, allServer);
    }
  }

  private final class LeaderEvents implements LeaderEventApi {
    @Override
    public void notifyFollowerSlowness(RoleInfoProto leader, RaftPeer slow) {
      machine.leaderEvent().notifyFollowerSlowness(leader, slow);
    }

    @Override
    public void notifyNotLeader(Collection<TransactionContext> pending) throws IOException {
      inform(LeaderListener::steppedDown);
      machine.leaderEvent().notifyNotLeader(pending);
    }

    @Override
    public void notifyLeaderReady() {
      machine.leaderEvent().notifyLeaderReady();
      long readyTerm = term.getAsLong();
      inform(listener -> listener.leaderReady(readyTerm));
    }
  }

  @Override
  public DataApi data() {
    return data;
  }

  @Override
  public EventApi event() {
    return events;
  }

  @Override
  public LeaderEventApi leaderEvent() {
    return leaderEvents;
  }

  @Override
  public FollowerEventApi followerEvent() {
    return machine.followerEvent();
  }

  @Override
  public void initialize(RaftServer server, RaftGroupId group, RaftStorage storage)
      throws IOException {
    division = server.getDivision(group);
    acknowledged = AcknowledgedEntry.open(storage.getStorageDir().getRoot().toPath());
    machine.initialize(server, group, storage);
  }

  @Override
  public LifeCycle.State getLifeCycleState() {
    return machine.getLifeCycleState();
  }

  @Override
  public void pause() {
    machine.pause();
  }

  @Override
  public void reinitialize() throws IOException {
    machine.reinitialize();
  }

  @Override
  public long takeSnapshot() throws IOException {
    return machine.takeSnapshot();
  }

  @Override
  public StateMachineStorage getStateMachineStorage() {
    return machine.getStateMachineStorage();
  }

  @Override
  public SnapshotInfo getLatestSnapshot() {
    return machine.getLatestSnapshot();
  }

  @Override
  public CompletableFuture<Message> query(Message request) {
    return machine.query(request);
  }

  @Override
  public CompletableFuture<Message> queryStale(Message request, long minIndex) {
    return machine.queryStale(request, minIndex);
  }

  @Override
  public TransactionContext startTransaction(RaftClientRequest request) throws IOException {
    if (request instanceof Proposal proposal) {
      proposal.started();
    }
    return machine.startTransaction(request);
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
    return started(
        LogEntryProto.newBuilder()
            .setTerm(entry.getTerm())
            .setIndex(entry.getIndex())
            .setStateMachineLogEntry(
                StateMachineLogEntryProto.newBuilder()
                    .setClientId(written.getClientId())
                    .setCallId(written.getCallId()))
            .build(),
        role);
  }

  private TransactionContext started(LogEntryProto entry, RaftPeerRole role) {
    return TransactionContext.newBuilder()
        .setStateMachine(this)
        .setLogEntry(entry)
        .setServerRole(role)
        .build();
  }

  private TransactionContext withData(TransactionContext context) {
    if (context.getClientRequest() != null) {
      return context; // Of a leader, who bounds its requests.
    }
    long index = context.getLogEntry().getIndex();
    try {
      return started(division.getRaftLog().get(index), context.getServerRole());
    } catch (IOException e) {
      throw new UncheckedIOException("Entry " + index + " of the log can't be read.", e);
    }
  }

  @Override
  public TransactionContext preAppendTransaction(TransactionContext context) throws IOException {
    return machine.preAppendTransaction(context);
  }

  @Override
  public TransactionContext cancelTransaction(TransactionContext context) throws IOException {
    return machine.cancelTransaction(context);
  }

  @Override
  public TransactionContext applyTransactionSerial(TransactionContext context)
      throws InvalidProtocolBufferException {
    return machine.applyTransactionSerial(context);
  }

  @Override
  public CompletableFuture<Message> applyTransaction(TransactionContext context) {
    LogEntryProto entry = context.getLogEntry();
    counts(TermIndex.valueOf(entry.getTerm(), entry.getIndex()));
    TransactionContext whole = withData(context); // Before its file may leave the memory.
    LogCache.trim(division);
    return machine.applyTransaction(whole);
  }

  @Override
  public TermIndex getLastAppliedTermIndex() {
    return machine.getLastAppliedTermIndex();
  }

  @Override
  public String toStateMachineLogEntryString(StateMachineLogEntryProto entry) {
    return machine.toStateMachineLogEntryString(entry);
  }

  @Override
  public void close() throws IOException {
    machine.close();
    if (acknowledged != null) {
      acknowledged.close();
    }
  }
}
