// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import io.isolde.raft.LeaderListener;
import io.isolde.raft.LogData;
import io.isolde.raft.Peer;
import io.isolde.raft.RaftReplica;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.ratis.client.impl.OrderedAsync;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftClientAsynchronousProtocol;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.protocol.exceptions.GroupMismatchException;
import org.apache.ratis.protocol.exceptions.LeaderNotReadyException;
import org.apache.ratis.protocol.exceptions.LeaderSteppingDownException;
import org.apache.ratis.protocol.exceptions.NotLeaderException;
import org.apache.ratis.protocol.exceptions.ReadException;
import org.apache.ratis.protocol.exceptions.ReadIndexException;
import org.apache.ratis.protocol.exceptions.ReconfigurationInProgressException;
import org.apache.ratis.protocol.exceptions.ReconfigurationTimeoutException;
import org.apache.ratis.protocol.exceptions.ResourceUnavailableException;
import org.apache.ratis.protocol.exceptions.ServerNotReadyException;
import org.apache.ratis.protocol.exceptions.StateMachineException;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.util.Timestamp;

/** A replica of a group in Ratis, as this node asks it; what other members ask, its member does. */
final class RatisReplica implements RaftReplica {
  /** Together a second, in which Ratis has renamed or purged the file that was missing. */
  private static final int MAX_READS = 20;

  private static final long READ_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final RaftServer server;
  private final RaftGroupId group;
  private final RaftServer.Division division;

  /** Takes requests in the caller's thread. The server would hand them to another one. */
  private final RaftClientAsynchronousProtocol requests;

  private final RatisStateMachine machine;
  private final FollowerAnswers answers;
  private final RatisMember member;
  private final HandOver handOver;
  private final ClientId client = ClientId.randomId();
  private final AtomicLong calls = new AtomicLong();

  RatisReplica(
      RaftServer server, RatisMember member, RatisStateMachine machine, FollowerAnswers answers) {
    this.server = server;
    this.group = member.group();
    this.division = member.division();
    this.requests = (RaftClientAsynchronousProtocol) division;
    this.machine = machine;
    this.answers = answers;
    this.member = member;
    this.handOver = member.handOver();
    machine.add(
        new LeaderListener() {
          @Override
          public void steppedDown() {
            answers.giveUp();
          }
        });
  }

  RatisMember member() {
    return member;
  }

  @Override
  public Optional<String> failure() {
    if (machine.failure().isPresent()) {
      return machine.failure();
    }
    return division.getInfo().getLifeCycleState().isClosingOrClosed()
        ? Optional.of("Its log could not be written.")
        : Optional.empty();
  }

  @Override
  public Optional<String> problem() {
    return member.isDiskStalled()
        ? Optional.of(
            "The disk of the log hangs: it has finished no write for seconds. Look at the disk; no"
                + " restart is needed.")
        : Optional.empty();
  }

  @Override
  public CompletableFuture<Void> propose(LogData data) {
    Proposal proposal = new Proposal(client, server.getId(), group, calls.incrementAndGet(), data);
    return submit(proposal)
        .handle(
            (reply, failure) -> {
              if (failure == null && reply.isSuccess()) {
                return null;
              }
              throw translate(
                  failure != null ? failure : reply.getException(), proposal.isStarted());
            });
  }

  @Override
  public CompletableFuture<Void> barrier() {
    if (!isLeader()) {
      return CompletableFuture.failedFuture(GroupFailure.notLeader(leader()));
    }
    long term = term();
    if (handOver.isTaken(term)) {
      return CompletableFuture.failedFuture(handingOver(null));
    }
    Timestamp asked = Timestamp.currentTime();
    RaftClientRequest request =
        RaftClientRequest.newBuilder()
            .setClientId(client)
            .setServerId(server.getId())
            .setGroupId(group)
            .setCallId(calls.incrementAndGet())
            .setMessage(OrderedAsync.DUMMY)
            .setType(RaftClientRequest.readRequestType())
            .build();
    return done(submit(request))
        .thenCompose(applied -> answers.leadsAfter(division, asked))
        .thenAccept(leads -> requireLeading(leads, term));
  }

  /**
   * The followers' answers are the proof, as of {@link #barrier}; they are those of one term, so
   * that must still be this node's afterwards.
   */
  @Override
  public boolean leadsForSure() {
    long term = term();
    return answers.leadsNow(division) && isLeader() && term() == term && !handOver.isTaken(term);
  }

  private void requireLeading(boolean isProven, long term) {
    if (!isProven) {
      throw failure(Reason.NOT_LEADER, "No majority has answered this leader in time.", null);
    }
    if (!isLeader() || term() != term) {
      throw GroupFailure.notLeader(leader());
    }
    if (handOver.isTaken(term)) {
      throw handingOver(null);
    }
  }

  private GroupFailure handingOver(Throwable cause) {
    return failure(Reason.NOT_LEADER, "The leader is handing over.", cause);
  }

  private CompletableFuture<RaftClientReply> submit(RaftClientRequest request) {
    try {
      return requests.submitClientRequestAsync(request);
    } catch (IOException | RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public Optional<ByteBuffer> read(long index) throws IOException {
    RaftLog log = division.getRaftLog();
    for (int attempt = 1; index >= log.getStartIndex(); attempt++) {
      try {
        return read(log, index);
      } catch (IOException e) {
        // Ratis renames and purges files beside its readers; afterwards the log says what it has.
        if (attempt == MAX_READS || !isFileMissing(e)) {
          throw e;
        }
        LockSupport.parkNanos(READ_PAUSE_NANOS);
      }
    }
    return Optional.empty();
  }

  private static boolean isFileMissing(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof NoSuchFileException) {
        return true;
      }
    }
    return false;
  }

  private static Optional<ByteBuffer> read(RaftLog log, long index) throws IOException {
    LogEntryProto entry = log.get(index);
    return entry == null || !entry.hasStateMachineLogEntry()
        ? Optional.empty()
        : Optional.of(entry.getStateMachineLogEntry().getLogData().asReadOnlyByteBuffer());
  }

  @Override
  public boolean isLeader() {
    return division.getInfo().isLeader()
        && division.getInfo().isLeaderReady()
        && !answers.mustBeSilent();
  }

  @Override
  public Optional<Peer> leader() {
    return answers.mustBeSilent()
        ? Optional.empty()
        : Optional.ofNullable(division.getInfo().getLeaderId())
            .map(id -> division.getRaftConf().getPeer(id))
            .map(RatisTypes::peer);
  }

  @Override
  public long committedIndex() {
    return division.getRaftLog().getLastCommittedIndex();
  }

  @Override
  public long appliedIndex() {
    return machine.getLastAppliedTermIndex().getIndex();
  }

  @Override
  public long term() {
    return division.getInfo().getCurrentTerm();
  }

  @Override
  public List<Peer> members() {
    return RatisTypes.peers(division.getRaftConf().getCurrentPeers());
  }

  @Override
  public Optional<List<Peer>> committedMembers() {
    RaftConfiguration now = division.getRaftConf();
    boolean isChanging =
        !now.getPreviousPeers().isEmpty()
            || now.getLogEntryIndex() > division.getRaftLog().getLastCommittedIndex();
    return isChanging ? Optional.empty() : Optional.of(RatisTypes.peers(now.getCurrentPeers()));
  }

  @Override
  public void addListener(LeaderListener listener) {
    machine.add(listener);
  }

  @Override
  public CompletableFuture<Void> transferLeadership(String to, long timeoutMillis) {
    if (isLeader() && !answers.isAlive(RaftPeerId.valueOf(to))) {
      return CompletableFuture.failedFuture(
          failure(Reason.NOT_LEADER, "The member " + to + " does not answer this leader.", null));
    }
    long term = term();
    if (!handOver.offer(to, term)) {
      return CompletableFuture.failedFuture(handingOver(null));
    }
    return transfer(RaftPeerId.valueOf(to), timeoutMillis)
        .whenComplete(
            (done, failure) -> {
              handOver.end();
              if (failure != null && handOver.isTaken(term) && term() == term) {
                var unused = transfer(null, timeoutMillis);
              }
            });
  }

  /**
   * Asks Ratis for it.
   *
   * @param to null if this node just steps down
   */
  private CompletableFuture<Void> transfer(RaftPeerId to, long timeoutMillis) {
    TransferLeadershipRequest request =
        new TransferLeadershipRequest(
            client, server.getId(), group, calls.incrementAndGet(), to, timeoutMillis);
    try {
      return done(server.transferLeadershipAsync(request));
    } catch (IOException | RuntimeException e) {
      return CompletableFuture.failedFuture(translate(e, false));
    }
  }

  @Override
  public CompletableFuture<Void> setMembers(List<Peer> before, List<Peer> members) {
    SetConfigurationRequest.Arguments change =
        SetConfigurationRequest.Arguments.newBuilder()
            .setServersInCurrentConf(RatisTypes.ratis(before))
            .setServersInNewConf(RatisTypes.ratis(members))
            .setMode(SetConfigurationRequest.Mode.COMPARE_AND_SET)
            .build();
    try {
      return done(
          server.setConfigurationAsync(
              new SetConfigurationRequest(
                  client, server.getId(), group, calls.incrementAndGet(), change)));
    } catch (IOException e) {
      return CompletableFuture.failedFuture(translate(e, false));
    }
  }

  private CompletableFuture<Void> done(CompletableFuture<RaftClientReply> future) {
    return future.handle(
        (reply, failure) -> {
          if (failure == null && reply.isSuccess()) {
            return null;
          }
          throw translate(failure != null ? failure : reply.getException(), false);
        });
  }

  private GroupFailure translate(Throwable failure, boolean started) {
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    if (cause instanceof ResourceUnavailableException) {
      // Ratis says so of a leader that is ending, too; then another one takes the request.
      return isLeader()
          ? failure(Reason.OVERLOADED, "Too many requests wait at the leader.", cause)
          : GroupFailure.notLeader(leader());
    }
    if (cause instanceof LeaderSteppingDownException) {
      return handingOver(cause);
    }
    if (cause instanceof ReconfigurationInProgressException
        || cause instanceof ReconfigurationTimeoutException) {
      return failure(Reason.NOT_LEADER, "A change of members is under way.", cause);
    }
    if (cause instanceof StateMachineException) {
      return failure(Reason.REFUSED, "The state machine refused the request.", cause);
    }
    if (started) {
      return failure(
          Reason.UNKNOWN,
          "The leader stepped down or failed while the request was being replicated.",
          cause);
    }
    if (cause instanceof NotLeaderException) {
      return GroupFailure.notLeader(leader());
    }
    if (cause instanceof LeaderNotReadyException
        || cause instanceof ServerNotReadyException
        || cause instanceof ReadException // It may have stepped down since it was asked.
        || cause instanceof ReadIndexException
        || cause instanceof GroupMismatchException) {
      return failure(Reason.NOT_LEADER, "This node is not ready.", cause);
    }
    return failure(Reason.REFUSED, String.valueOf(cause.getMessage()), cause);
  }

  private GroupFailure failure(Reason reason, String message, Throwable cause) {
    return new GroupFailure(reason, message, leader(), cause);
  }
}
