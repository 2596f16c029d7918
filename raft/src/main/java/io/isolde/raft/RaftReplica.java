// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import io.isolde.raft.GroupFailure.Reason;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.client.impl.OrderedAsync;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientAsynchronousProtocol;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.protocol.exceptions.GroupMismatchException;
import org.apache.ratis.protocol.exceptions.LeaderNotReadyException;
import org.apache.ratis.protocol.exceptions.LeaderSteppingDownException;
import org.apache.ratis.protocol.exceptions.NotLeaderException;
import org.apache.ratis.protocol.exceptions.RaftException;
import org.apache.ratis.protocol.exceptions.ReadException;
import org.apache.ratis.protocol.exceptions.ReadIndexException;
import org.apache.ratis.protocol.exceptions.ReconfigurationInProgressException;
import org.apache.ratis.protocol.exceptions.ReconfigurationTimeoutException;
import org.apache.ratis.protocol.exceptions.ResourceUnavailableException;
import org.apache.ratis.protocol.exceptions.ServerNotReadyException;
import org.apache.ratis.protocol.exceptions.StateMachineException;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.util.Timestamp;

/**
 * This node's replica of one group. The futures fail with a {@link GroupFailure}; a leader that
 * loses its majority steps down within an election time-out, which bounds every wait.
 */
public final class RaftReplica {
  private final RaftServer server;
  private final RaftGroupId group;
  private final RaftServer.Division division;

  /** Takes requests in the caller's thread. The server would hand them to another one. */
  private final RaftClientAsynchronousProtocol requests;

  private final ObservedStateMachine machine;
  private final FollowerAnswers answers;
  private final StalledDisk disk;
  private final int maxAppendsWaiting;
  private final AtomicInteger appendsWaiting = new AtomicInteger();
  private final VoteCopy votes;
  private final ClientId client = ClientId.randomId();
  private final AtomicLong calls = new AtomicLong();
  private final HandOver handOver = new HandOver();

  /**
   * Ratis looks at its term and its log and then appends, or looks at them and then votes, also for
   * itself; others must not come in between. Else a follower could acknowledge an old leader's
   * entries after it has voted for one that lacks them, or put them over those of the new one.
   */
  private final Object termAndLog = new Object();

  /** Ends when all that was appended so far is written, or was refused; guarded by termAndLog. */
  private CompletableFuture<Void> written = CompletableFuture.completedFuture(null);

  RaftReplica(
      RaftServer server,
      RaftGroupId group,
      ObservedStateMachine machine,
      FollowerAnswers answers,
      RaftSettings settings)
      throws IOException {
    this.server = server;
    this.group = group;
    this.division = server.getDivision(group);
    this.requests = (RaftClientAsynchronousProtocol) division;
    this.machine = machine;
    this.answers = answers;
    this.disk = new StalledDisk(settings.stalledDiskMillis());
    this.maxAppendsWaiting = maxAppendsWaiting(settings);
    machine.observe(
        id -> member(id).orElse(null),
        this::term,
        index -> division.getRaftLog().getTermIndex(index));
    if (machine.acknowledged().isNew()) {
      machine.acknowledged().raise(last());
    }
    votes = new VoteCopy(division.getRaftStorage().getStorageDir().getRoot().toPath());
    votes.save();
    requireComplete();
    machine.add(
        new LeaderListener() {
          @Override
          public void steppedDown() {
            answers.giveUp();
          }
        });
  }

  /** The last entry that is here: in the log, or in what stands for it. */
  private TermIndex last() {
    TermIndex logged = division.getRaftLog().getLastEntryTermIndex();
    SnapshotInfo saved = division.getStateMachine().getLatestSnapshot();
    TermIndex last = logged == null ? AcknowledgedEntry.NONE : logged;
    return saved == null || saved.getTermIndex().compareTo(last) < 0 ? last : saved.getTermIndex();
  }

  /**
   * Whether the end of what this node has acknowledged is not here any more. A leader sends it
   * again. Until then the node must not lead, and votes for those only who have it.
   */
  boolean hasLostItsEnd() {
    return last().compareTo(machine.acknowledged().last()) < 0;
  }

  private void requireComplete() throws LogDamagedException {
    SnapshotInfo saved = division.getStateMachine().getLatestSnapshot();
    long next = saved == null ? 0 : saved.getIndex() + 1;
    RaftLog raftLog = division.getRaftLog();
    if (raftLog.getLastEntryTermIndex() != null && raftLog.getStartIndex() > next) {
      throw new LogDamagedException(
          "The log of group %s has no entries from %d to %d: a file of it is missing."
              .formatted(group.getUuid(), next, raftLog.getStartIndex() - 1));
    }
    Collection<RaftPeer> all = division.getRaftConf().getCurrentPeers();
    if (all.size() == 1 && hasLostItsEnd()) {
      throw new LogDamagedException(
          ("The log of group %s ends with %s, but this node had answered up to %s, and is the only"
                  + " member: what is missing is nowhere else.")
              .formatted(group.getUuid(), last(), machine.acknowledged().last()));
    }
  }

  /** Why this replica takes part no more, though it was not closed; empty if it does. */
  public Optional<String> failure() {
    if (machine.failure().isPresent()) {
      return machine.failure();
    }
    return division.getInfo().getLifeCycleState().isClosingOrClosed()
        ? Optional.of("Its log could not be written.")
        : Optional.empty();
  }

  /** To be called every now and then, by one thread. */
  void lookAtDisk(long nowNanos, long awakeSinceNanos) {
    RaftLog log = division.getRaftLog();
    long flushed = log.getFlushIndex();
    disk.look(nowNanos, awakeSinceNanos, flushed, log.getNextIndex() - 1);
    answers.silenceIfAhead(division, disk.isStalled(), flushed);
  }

  boolean isDiskStalled() {
    return disk.isStalled();
  }

  /** What keeps this replica from its work for now, though it has not failed; empty if nothing. */
  public Optional<String> problem() {
    return disk.isStalled()
        ? Optional.of(
            "The disk of the log hangs: it has finished no write for seconds. Look at the disk; no"
                + " restart is needed.")
        : Optional.empty();
  }

  /** For a follower's disk: a leader repeats what has no answer, and the next one does, too. */
  static int maxAppendsWaiting(RaftSettings settings) {
    return 4 * settings.outstandingAppends();
  }

  int appendsWaiting() {
    return appendsWaiting.get();
  }

  /** The group. */
  public RaftGroupId group() {
    return group;
  }

  RaftServer.Division division() {
    return division;
  }

  HandOver handOver() {
    return handOver;
  }

  /**
   * A leader's request, which is in this follower's log on return and on its disk when it is
   * acknowledged. Ratis itself would acknowledge a repetition at once, while the same entries are
   * still being written, and also when they could not be written.
   */
  CompletableFuture<AppendEntriesReplyProto> append(AppendEntriesRequestProto request)
      throws IOException {
    if (request.getEntriesCount() == 0) {
      return appendNoticing(request); // A heartbeat, which does not wait for a full log.
    }
    if (!division.getInfo().isFollower()) {
      // Outside of the lock: the end of an election may wait for the answers to its votes.
      var unused = server.appendEntriesAsync(request.toBuilder().clearEntries().build());
    }
    if (appendsWaiting.incrementAndGet() > maxAppendsWaiting) {
      appendsWaiting.decrementAndGet();
      throw new IOException("Too many appends wait for the disk of " + division.getMemberId());
    }
    CompletableFuture<AppendEntriesReplyProto> reply = appendInOrder(request);
    var unused = reply.whenComplete((answer, failure) -> appendsWaiting.decrementAndGet());
    return reply;
  }

  private CompletableFuture<AppendEntriesReplyProto> appendInOrder(
      AppendEntriesRequestProto request) {
    // What waits for the disk must not keep the entries.
    TermIndex lastEntry = TermIndex.valueOf(request.getEntries(request.getEntriesCount() - 1));
    synchronized (termAndLog) {
      CompletableFuture<Void> earlier = written;
      CompletableFuture<AppendEntriesReplyProto> reply =
          appendFuture(request)
              .thenCompose(
                  answer ->
                      answer.getResult() == AppendResult.SUCCESS
                          ? earlier.thenApply(done -> requireFlushed(lastEntry, answer))
                          : CompletableFuture.completedFuture(answer));
      written = CompletableFuture.allOf(earlier, reply).handle((done, failure) -> null);
      return reply;
    }
  }

  private CompletableFuture<AppendEntriesReplyProto> appendFuture(
      AppendEntriesRequestProto request) {
    try {
      return appendNoticing(request);
    } catch (IOException | RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** The disk may fail before anything is appended: a new term is written down first. */
  private CompletableFuture<AppendEntriesReplyProto> appendNoticing(
      AppendEntriesRequestProto request) throws IOException {
    try {
      return server
          .appendEntriesAsync(request)
          .whenComplete((reply, failure) -> noticeFailure(failure));
    } catch (IOException e) {
      noticeFailure(e);
      throw e;
    }
  }

  private void noticeFailure(Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    if (cause instanceof IOException && !(cause instanceof RaftException)) {
      machine.failed(cause);
    }
  }

  private AppendEntriesReplyProto requireFlushed(TermIndex last, AppendEntriesReplyProto answer) {
    long flushed = division.getRaftLog().getFlushIndex();
    if (flushed >= last.getIndex()) {
      acknowledge(last);
    } else {
      throw new CompletionException(
          new IOException(
              "The log of %s is on disk up to entry %d only, not up to %d: its disk failed."
                  .formatted(division.getMemberId(), flushed, last.getIndex())));
    }
    return answer;
  }

  private void acknowledge(TermIndex entry) {
    try {
      machine.acknowledged().raise(entry);
    } catch (IOException e) {
      machine.failed(e);
      throw new CompletionException(e);
    }
  }

  /** Has this replica stand for leader, as a leader's request says. */
  StartLeaderElectionReplyProto stand(StartLeaderElectionRequestProto request) throws IOException {
    requireItsEnd();
    synchronized (termAndLog) {
      return server.startLeaderElection(request);
    }
  }

  /** Refuses if this node must not lead. */
  void requireItsEnd() throws IOException {
    if (hasLostItsEnd()) {
      throw new IOException(
          "The end of the log of %s is lost, from %s to %s, and has not come again yet."
              .formatted(division.getMemberId(), last(), machine.acknowledged().last()));
    }
  }

  /** To be called before this node asks others for their votes, having voted for itself. */
  void beforeCandidacy(boolean isPreVote) throws IOException {
    requireItsEnd();
    if (!isPreVote) {
      votes.save();
    }
  }

  /** A candidate's request. */
  RequestVoteReplyProto vote(RequestVoteRequestProto request) throws IOException {
    synchronized (termAndLog) {
      if (TermIndex.valueOf(request.getCandidateLastEntry())
              .compareTo(machine.acknowledged().last())
          < 0) {
        requireItsEnd();
      }
      try {
        RequestVoteReplyProto reply = server.requestVote(request);
        if (reply.getServerReply().getSuccess() && !request.getPreVote()) {
          votes.save();
        }
        return reply;
      } catch (IOException e) {
        noticeFailure(e);
        throw e;
      }
    }
  }

  /**
   * Appends to the log. The future completes with the state machine's answer, after a majority has
   * the entry. Only the leader may be asked; the state machine finds the very same message object
   * in the transaction's client request.
   */
  public CompletableFuture<Message> propose(Message message) {
    Proposal proposal =
        new Proposal(client, server.getId(), group, calls.incrementAndGet(), message);
    return submit(proposal)
        .handle(
            (reply, failure) -> {
              if (failure == null && reply.isSuccess()) {
                return reply.getMessage();
              }
              throw translate(
                  failure != null ? failure : reply.getException(), proposal.isStarted());
            });
  }

  /**
   * Completes when this node was the leader at a moment after the call, and has applied everything
   * committed before. Within the lease it asks nobody.
   */
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
    return submit(request)
        .handle(
            (reply, failure) -> {
              if (failure != null || !reply.isSuccess()) {
                throw translate(failure != null ? failure : reply.getException(), false);
              }
              return null;
            })
        .thenCompose(applied -> answers.leadsAfter(division, asked))
        .thenAccept(leads -> requireLeading(leads, term));
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

  /** Whether this node leads and is ready to be asked; not while its disk hangs. */
  public boolean isLeader() {
    return division.getInfo().isLeader()
        && division.getInfo().isLeaderReady()
        && !answers.mustBeSilent();
  }

  /** Who leads, as far as this node knows. */
  public Optional<Peer> leader() {
    return answers.mustBeSilent()
        ? Optional.empty()
        : Optional.ofNullable(division.getInfo().getLeaderId()).flatMap(this::member);
  }

  private Optional<Peer> member(RaftPeerId id) {
    return Optional.ofNullable(division.getRaftConf().getPeer(id)).map(Peer::of);
  }

  /** Up to where this node knows the log to be committed. */
  public long committedIndex() {
    return division.getRaftLog().getLastCommittedIndex();
  }

  /** The current term. */
  public long term() {
    return division.getInfo().getCurrentTerm();
  }

  /** The members, as far as this node knows. */
  public List<Peer> members() {
    Collection<RaftPeer> peers = division.getRaftConf().getCurrentPeers();
    return peers.stream().map(Peer::of).toList();
  }

  /**
   * The members, unless they are being changed, so that those before have a say, too, or still may
   * have: also as long as the last change is not known to be on a majority.
   */
  public Optional<List<Peer>> committedMembers() {
    RaftConfiguration now = division.getRaftConf();
    boolean isChanging =
        !now.getPreviousPeers().isEmpty()
            || now.getLogEntryIndex() > division.getRaftLog().getLastCommittedIndex();
    return isChanging
        ? Optional.empty()
        : Optional.of(now.getCurrentPeers().stream().map(Peer::of).toList());
  }

  /** Tells of changes from now on. */
  public void addListener(LeaderListener listener) {
    machine.add(listener);
  }

  /**
   * Hands leadership over. Requests are refused meanwhile; if it fails, this node goes on leading,
   * or steps down if the other may have been elected. One at a time: another fails with {@link
   * Reason#NOT_LEADER}. So does one to a member that does not answer, at once.
   *
   * @param timeoutMillis when to give up
   */
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

  /**
   * Changes the members. Only the leader may be asked; the caller adds or removes one at a time,
   * and starts a new member (without initial members) before it adds it.
   */
  public CompletableFuture<Void> setMembers(List<Peer> members) {
    return setMembers(
        SetConfigurationRequest.Arguments.newBuilder().setServersInNewConf(ratis(members)).build());
  }

  /** As {@link #setMembers(List)}; refused if the members are not those that they were thought. */
  public CompletableFuture<Void> setMembers(List<Peer> before, List<Peer> members) {
    return setMembers(
        SetConfigurationRequest.Arguments.newBuilder()
            .setServersInCurrentConf(ratis(before))
            .setServersInNewConf(ratis(members))
            .setMode(SetConfigurationRequest.Mode.COMPARE_AND_SET)
            .build());
  }

  private static List<RaftPeer> ratis(List<Peer> peers) {
    return peers.stream().map(Peer::toRatis).toList();
  }

  private CompletableFuture<Void> setMembers(SetConfigurationRequest.Arguments arguments) {
    SetConfigurationRequest request =
        new SetConfigurationRequest(
            client, server.getId(), group, calls.incrementAndGet(), arguments);
    try {
      return done(server.setConfigurationAsync(request));
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
      return failure(Reason.OVERLOADED, "Too many requests wait at the leader.", cause);
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
