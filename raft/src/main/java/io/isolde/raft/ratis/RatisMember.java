// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.LogDamagedException;
import io.isolde.raft.RaftSettings;
import java.io.IOException;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.exceptions.RaftException;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.statemachine.SnapshotInfo;

/**
 * This node's replica of one group as the other members ask it: it takes entries and votes, and
 * acknowledges nothing that it may not have.
 */
final class RatisMember {
  private final RaftServer server;
  private final RaftGroupId group;
  private final RaftServer.Division division;
  private final RatisStateMachine machine;
  private final FollowerAnswers answers;
  private final StalledDisk disk;
  private final int maxAppendsWaiting;
  private final AtomicInteger appendsWaiting = new AtomicInteger();
  private final VoteCopy votes;
  private final HandOver handOver = new HandOver();

  /**
   * Ratis looks at its term and its log and then appends, or looks at them and then votes, also for
   * itself; others must not come in between. Else a follower could acknowledge an old leader's
   * entries after it has voted for one that lacks them. Or it could put them over those of the new
   * one.
   */
  private final Object termAndLog = new Object();

  /** Ends when all that was appended so far is written, or was refused; guarded by termAndLog. */
  private CompletableFuture<Void> written = CompletableFuture.completedFuture(null);

  RatisMember(
      RaftServer server,
      RaftGroupId group,
      RatisStateMachine machine,
      FollowerAnswers answers,
      RaftSettings settings)
      throws IOException {
    this.server = server;
    this.group = group;
    this.division = server.getDivision(group);
    this.machine = machine;
    this.answers = answers;
    this.disk = new StalledDisk(settings.stalledDiskMillis());
    this.maxAppendsWaiting = maxAppendsWaiting(settings);
    if (machine.acknowledged().isNew()) {
      machine.acknowledged().raise(last());
    }
    votes = new VoteCopy(division.getRaftStorage().getStorageDir().getRoot().toPath());
    votes.save();
    requireComplete();
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

  /** To be called every now and then, by one thread. */
  void look(long nowNanos, long awakeSinceNanos) {
    RaftLog log = division.getRaftLog();
    long flushed = log.getFlushIndex();
    disk.look(nowNanos, awakeSinceNanos, flushed, log.getNextIndex() - 1);
    answers.silenceIfUseless(division, disk.isStalled(), flushed, machine.canApply());
  }

  boolean canApply() {
    return machine.canApply();
  }

  boolean isDiskStalled() {
    return disk.isStalled();
  }

  /** For a follower's disk: a leader repeats what has no answer, and the next one does, too. */
  static int maxAppendsWaiting(RaftSettings settings) {
    return 4 * settings.outstandingAppends();
  }

  int appendsWaiting() {
    return appendsWaiting.get();
  }

  RaftGroupId group() {
    return group;
  }

  RaftServer.Division division() {
    return division;
  }

  long term() {
    return division.getInfo().getCurrentTerm();
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
    requireUseful();
    synchronized (termAndLog) {
      return server.startLeaderElection(request);
    }
  }

  /** Refuses if this node must not lead, or would be a leader that answers nothing. */
  private void requireUseful() throws IOException {
    requireItsEnd();
    if (!machine.canApply()) {
      throw new IOException(
          division.getMemberId() + " can't apply the next entry of its log, so it does not lead.");
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
    requireUseful();
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
}
