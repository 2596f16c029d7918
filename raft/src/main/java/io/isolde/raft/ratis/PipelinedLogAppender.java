// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.RaftSettings;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.rpc.CallId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.leader.LogAppenderBase;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.util.Timestamp;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends entries to one follower, several messages at a time. Three things differ from the appender
 * of Ratis, apart from that:
 *
 * <ul>
 *   <li>No wake-up is lost. Ratis can miss a signal between looking for entries and waiting, and
 *       then waits for the next heartbeat.
 *   <li>A refusal by a follower with a higher term doesn't renew the lease, not even for the moment
 *       until the leader steps down.
 *   <li>Followers learn soon, not with the next heartbeat, what is committed.
 * </ul>
 *
 * <p>Only the appender's own thread touches the state; answers are queued for it.
 */
final class PipelinedLogAppender extends LogAppenderBase {
  private static final Logger log = LoggerFactory.getLogger(PipelinedLogAppender.class);

  /** So many waiting entries are worth another message before the last is answered. */
  private static final int PIPELINED_ENTRIES = 64;

  /** How long a commit may wait for entries that take it along. */
  private static final long ANNOUNCE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

  private final RaftRpcService rpc;
  private final RaftSettings settings;
  private final FollowerAnswers proofs;

  /** Sent, not answered; at most {@link RaftSettings#outstandingAppends} with entries. */
  private final ArrayDeque<Sent> outstanding = new ArrayDeque<>();

  /** Answers for the appender's thread; never more than were sent. */
  private final Queue<Runnable> answers = new ConcurrentLinkedQueue<>();

  private int entriesOutstanding;

  /** Of these; a message is sent as long as this is below {@link RaftSettings#outstandingBytes}. */
  private long bytesOutstanding;

  /** Grows when we start again from an earlier entry; failures of older messages don't count. */
  private int epoch;

  private long retryAtNanos = System.nanoTime();
  private int failures;
  private long announcedCommit = -1;
  private long lastSentNanos = System.nanoTime();
  private volatile Thread thread;
  private volatile boolean isSignalled;

  private record Sent(
      AppendEntriesRequestProto request,
      RaftCall<AppendEntriesReplyProto> call,
      Timestamp time,
      int epoch) {
    boolean hasEntries() {
      return request.getEntriesCount() > 0;
    }

    /** The entry that it begins with, or would begin with. */
    long firstIndex() {
      return request.hasPreviousLog() ? request.getPreviousLog().getIndex() + 1 : 0;
    }

    long lastIndex() {
      return request.getEntries(request.getEntriesCount() - 1).getIndex();
    }
  }

  PipelinedLogAppender(
      RaftServer.Division server,
      LeaderState leader,
      FollowerInfo follower,
      RaftRpcService rpc,
      RaftSettings settings) {
    super(server, leader, follower);
    this.rpc = rpc;
    this.settings = settings;
    this.proofs = rpc.answers(server.getMemberId().getGroupId());
    proofs.add(this);
  }

  @Override
  public long getCallId() {
    return CallId.get();
  }

  @Override
  public Comparator<Long> getCallIdComparator() {
    return CallId.getComparator();
  }

  @Override
  public boolean hasPendingDataRequests() {
    return entriesOutstanding > 0;
  }

  @Override
  public void notifyLogAppender() {
    isSignalled = true;
    LockSupport.unpark(thread);
  }

  @Override
  public void run() throws InterruptedException, IOException {
    thread = Thread.currentThread();
    try {
      rpc.refresh(getFollowerId());
      sendWhileRunning();
    } finally {
      startAgain(); // It is remembered until this node leads again; what it has sent need not be.
    }
  }

  private void sendWhileRunning() throws InterruptedException, IOException {
    while (isRunning()) {
      isSignalled = false;
      for (Runnable answer = answers.poll(); answer != null; answer = answers.poll()) {
        answer.run();
      }
      failIfTooOld();
      boolean sent = isRunning() && System.nanoTime() - retryAtNanos >= 0 && sendNext();
      getLeaderState().checkHealth(getFollower());
      if (!sent && !isSignalled) {
        LockSupport.parkNanos(waitNanos());
      }
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
  }

  private long waitNanos() {
    long wait = TimeUnit.MILLISECONDS.toNanos(getHeartbeatWaitTimeMs());
    if (hasCommitToAnnounce()) {
      wait = Math.min(wait, ANNOUNCE_NANOS);
    }
    long retry = retryAtNanos - System.nanoTime();
    return Math.max(TimeUnit.MILLISECONDS.toNanos(1), retry > 0 ? retry : wait);
  }

  private boolean hasCommitToAnnounce() {
    return getRaftLog().getLastCommittedIndex() > announcedCommit;
  }

  /**
   * Whether entries should be sent now. While a message is under way, few entries wait for its
   * answer and then go together; else every entry would have a message of its own.
   */
  private boolean hasRoomForEntries() {
    long waiting = getRaftLog().getNextIndex() - getFollower().getNextIndex();
    return waiting > 0
        && (entriesOutstanding == 0
            || (entriesOutstanding < settings.outstandingAppends()
                && bytesOutstanding < settings.outstandingBytes()
                && waiting >= Math.min(PIPELINED_ENTRIES, settings.appendEntries())));
  }

  /** Sends a message, if there is reason to and room for it. */
  private boolean sendNext() throws IOException {
    boolean heartbeatDue = getHeartbeatWaitTimeMs() <= 0;
    boolean announce = hasCommitToAnnounce() && System.nanoTime() - lastSentNanos >= ANNOUNCE_NANOS;
    boolean entries = hasRoomForEntries();
    if ((!heartbeatDue && !announce && !entries) || proofs.mustBeSilent()) {
      return false;
    }
    if (outstanding.isEmpty() && sendSnapshot()) {
      return true;
    }
    AppendEntriesRequestProto request = newAppendEntriesRequest(CallId.getAndIncrement(), !entries);
    if (request == null) {
      return false;
    }
    if (outstanding.size() >= settings.outstandingAppends() + MAX_HEARTBEATS) {
      return false;
    }
    resetHeartbeatTrigger();
    send(request);
    return true;
  }

  /** Messages without entries that may wait for an answer, beside those with entries. */
  private static final int MAX_HEARTBEATS = 8;

  private void send(AppendEntriesRequestProto request) throws IOException {
    Timestamp now = Timestamp.currentTime();
    Sent sent = new Sent(request, rpc.append(request), now, epoch);
    lastSentNanos = System.nanoTime();
    announcedCommit = request.getLeaderCommit();
    getFollower().updateLastRpcSendTime(!sent.hasEntries());
    if (sent.hasEntries()) {
      entriesOutstanding++;
      bytesOutstanding += request.getSerializedSize();
      getFollower().increaseNextIndex(sent.lastIndex() + 1);
    }
    outstanding.add(sent);
    var unused =
        sent.call()
            .reply()
            .whenComplete(
                (reply, failure) -> {
                  answers.add(() -> onAnswer(sent, reply, failure));
                  notifyLogAppender();
                });
  }

  private void onAnswer(Sent sent, AppendEntriesReplyProto reply, Throwable failure) {
    if (failure != null) {
      if (sent.epoch() == epoch) {
        onFailure(failure);
      }
      return;
    }
    if (sent.epoch() == epoch && outstanding.remove(sent) && sent.hasEntries()) {
      entriesOutstanding--;
      bytesOutstanding -= sent.request().getSerializedSize();
    }
    onReply(sent, reply);
  }

  private void onReply(Sent sent, AppendEntriesReplyProto reply) {
    failures = 0;
    FollowerInfo follower = getFollower();
    follower.updateLastRpcResponseTime();
    switch (reply.getResult()) {
      case SUCCESS -> {
        follower.updateLastRespondedAppendEntriesSendTime(sent.time());
        getLeaderState().onFollowerCommitIndex(follower, reply.getFollowerCommit());
        onMatch(sent);
      }
      case INCONSISTENCY -> {
        follower.updateLastRespondedAppendEntriesSendTime(sent.time());
        if (sent.epoch() == epoch) {
          startAgain();
          follower.setNextIndex(
              getNextIndexForInconsistency(sent.firstIndex(), reply.getNextIndex()));
        }
      }
      case NOT_LEADER -> onFollowerTerm(reply.getTerm());
      default -> log.warn("{}: unknown answer {}", this, reply.getResult());
    }
    getLeaderState().onAppendEntriesReply(this, reply);
    proofs.answered();
  }

  private void onMatch(Sent sent) {
    long match =
        sent.hasEntries()
            ? sent.lastIndex()
            : sent.request().hasPreviousLog() ? sent.request().getPreviousLog().getIndex() : -1;
    if (match >= 0 && getFollower().updateMatchIndex(match)) {
      getLeaderState().onFollowerSuccessAppendEntries(getFollower());
    }
  }

  private void onFailure(Throwable failure) {
    if (failures++ % 100 == 0) {
      log.warn("{}: cannot append: {}", this, failure.toString());
    }
    long first =
        outstanding.stream().filter(Sent::hasEntries).mapToLong(Sent::firstIndex).min().orElse(-1);
    startAgain();
    if (first >= 0) {
      getFollower().setNextIndex(Math.max(first, getFollower().getMatchIndex() + 1));
    }
    retryAtNanos = System.nanoTime() + RETRY_NANOS;
  }

  private void startAgain() {
    epoch++;
    outstanding.clear();
    entriesOutstanding = 0;
    bytesOutstanding = 0;
  }

  private void failIfTooOld() {
    Sent oldest = outstanding.peek();
    int timeoutMillis = settings.requestTimeoutMillis();
    if (oldest != null && oldest.time().elapsedTimeMs() > timeoutMillis) {
      oldest.call().onTimeout(timeoutMillis);
      onFailure(new IOException("No answer in " + timeoutMillis + " ms."));
    }
  }

  /** Whether the follower needs a snapshot; then it was sent, or it failed. */
  private boolean sendSnapshot() {
    try {
      if (settings.installSnapshots()) {
        SnapshotInfo snapshot = shouldInstallSnapshot();
        return snapshot != null && sendSnapshot(snapshot);
      }
      TermIndex first = shouldNotifyToInstallSnapshot();
      return first != null && notifyOfSnapshot(first);
    } catch (IOException e) {
      onFailure(e);
      return true;
    }
  }

  private boolean sendSnapshot(SnapshotInfo snapshot) throws IOException {
    log.info("{}: sending snapshot {}", this, snapshot);
    InstallSnapshotReplyProto reply = null;
    for (InstallSnapshotRequestProto part :
        newInstallSnapshotRequests(UUID.randomUUID().toString(), snapshot)) {
      getFollower().updateLastRpcSendTime(false);
      reply = rpc.installSnapshot(part);
      getFollower().updateLastRpcResponseTime();
      if (!reply.getServerReply().getSuccess()) {
        break;
      }
    }
    if (reply != null && reply.getServerReply().getSuccess()) {
      getFollower().setSnapshotIndex(snapshot.getTermIndex().getIndex());
    }
    onSnapshotReply(reply);
    return true;
  }

  private boolean notifyOfSnapshot(TermIndex first) throws IOException {
    getFollower().updateLastRpcSendTime(false);
    InstallSnapshotReplyProto reply =
        rpc.installSnapshot(newInstallSnapshotNotificationRequest(first));
    getFollower().updateLastRpcResponseTime();
    switch (reply.getResult()) {
      case SNAPSHOT_INSTALLED, ALREADY_INSTALLED -> {
        getFollower().setSnapshotIndex(reply.getSnapshotIndex());
        getLeaderState().onFollowerCommitIndex(getFollower(), reply.getSnapshotIndex());
      }
      default -> retryAtNanos = System.nanoTime() + 4 * RETRY_NANOS;
    }
    onSnapshotReply(reply);
    return true;
  }

  private void onSnapshotReply(InstallSnapshotReplyProto reply) {
    if (reply == null) {
      return;
    }
    switch (reply.getResult()) {
      case NOT_LEADER -> onFollowerTerm(reply.getTerm());
      case SUCCESS, SNAPSHOT_UNAVAILABLE, ALREADY_INSTALLED, SNAPSHOT_INSTALLED, SNAPSHOT_EXPIRED ->
          getFollower().setAttemptedToInstallSnapshot();
      default -> log.debug("{}: snapshot answer {}", this, reply.getResult());
    }
  }
}
