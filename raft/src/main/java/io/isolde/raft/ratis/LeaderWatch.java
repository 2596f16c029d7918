// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.Daemons;
import io.isolde.raft.RaftSettings;
import io.isolde.raft.transport.LogLimit;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches that a leader's lease is over before another leads. It starts elections before the
 * time-out, when the leader's process is dead or the leader is silent.
 *
 * <p>A connection from or to the leader may break, with nobody listening at its address any more.
 * Then a follower stands as soon as the leader's lease must be over. The other members may have
 * renewed that lease. So each of them refuses a vote until it has had no append for as long as a
 * lease; a majority of such members means that no lease is left. That goes for all votes but those
 * that the leader itself wants (see {@link HandOver}): also after the time-out, an append may have
 * come since the question before the vote. Before an early election a follower asks the others,
 * without consequences. So it disturbs nobody if it has a short log, or if it is alone in not
 * reaching the leader. Followers take turns.
 *
 * <p>A leader that is suspended or cut off is silent. Ratis looks only at the end of each of its
 * own time-outs whether there was a word meanwhile. So it replaces such a leader after up to four
 * times the minimum. Here a follower asks the others a quarter after the minimum whether they have
 * heard of it.
 */
final class LeaderWatch implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(LeaderWatch.class);
  private static final int KEEP_CONNECTED_MILLIS = 500;
  private static final int LOOK_MILLIS = 50;

  /** After such a gap it is this process that was suspended, and can't blame the leader. */
  private static final long MAX_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private final RaftRpcService rpc;
  private final RaftSettings settings;

  /** When an append or a part of a snapshot last came, for each group. */
  private final Map<RaftGroupId, AtomicLong> lastAppendNanos = new ConcurrentHashMap<>();

  /** Those of which any has come. */
  private final Set<RaftGroupId> heard = ConcurrentHashMap.newKeySet();

  private final Map<RaftGroupId, EarlyElection> elections = new ConcurrentHashMap<>();
  private final LogLimit logLimit = new LogLimit();
  private final ScheduledThreadPoolExecutor timer;

  /** Only touched on the timer's thread. */
  private long lastLookNanos = System.nanoTime();

  /** When this process was last known to have just come back, or has started. */
  private volatile long awakeSinceNanos = lastLookNanos;

  LeaderWatch(RaftRpcService rpc, RaftSettings settings) {
    this.rpc = rpc;
    this.settings = settings;
    this.timer = new ScheduledThreadPoolExecutor(1, Daemons.named("isolde-raft-watch"));
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  void start(RatisMember member) {
    // From now on, not from the first vote: else no first election after a restart would succeed.
    var unused = cell(member.group());
    elections.put(member.group(), new EarlyElection(member, this, rpc, settings));
  }

  /** Looks for leaders that are silent, from now on. */
  void watchForSilence() {
    var unused =
        timer.scheduleWithFixedDelay(this::look, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void look() {
    long now = System.nanoTime();
    if (now - lastLookNanos > MAX_LOOK_NANOS) {
      awakeSinceNanos = now;
    }
    lastLookNanos = now;
    elections.values().forEach(election -> look(election, now));
  }

  private void look(EarlyElection election, long now) {
    try {
      election.look();
      RatisMember member = election.member();
      member.look(now, awakeSinceNanos);
      if (member.isDiskStalled() && logLimit.allows(member.group())) {
        log.error(
            "The disk of {} has finished no write for {} ms. If this node leads, it falls silent,"
                + " so that another can lead. It goes on by itself when the disk does",
            member.division().getMemberId(),
            settings.stalledDiskMillis());
      }
      if (!member.canApply() && logLimit.allows(List.of(member.group(), "apply"))) {
        log.error(
            "{} can't apply the next entry of its log. If this node leads, it falls silent, so that"
                + " another can lead. It goes on by itself when that entry can be applied",
            member.division().getMemberId());
      }
    } catch (RuntimeException e) {
      log.debug("A group that is closed has no leader to watch", e); // The other groups have.
    }
  }

  void forget(RaftGroupId group) {
    elections.remove(group);
    lastAppendNanos.remove(group);
    heard.remove(group);
  }

  /** Opens connections before they are needed, from now on. */
  void keepConnected() {
    var unused =
        timer.scheduleWithFixedDelay(
            rpc::keepConnected, 0, KEEP_CONNECTED_MILLIS, TimeUnit.MILLISECONDS);
  }

  ScheduledExecutorService timer() {
    return timer;
  }

  /** A connection from or to this peer broke. */
  void onLost(String peer) {
    try {
      timer.execute(() -> elections.values().forEach(election -> election.onLost(peer)));
    } catch (RejectedExecutionException e) {
      // The node is closed.
    }
  }

  /** An append or a part of a snapshot came; called before it is handled. */
  void onAppend(RaftGroupId group) {
    heard.add(group);
    cell(group).accumulateAndGet(System.nanoTime(), LeaderWatch::later);
  }

  /** Connections have threads of their own, of which one may be late. */
  private static long later(long nanos, long otherNanos) {
    return otherNanos - nanos > 0 ? otherNanos : nanos;
  }

  long lastAppendNanos(RaftGroupId group) {
    return cell(group).get();
  }

  /** A group of which we have not heard has been silent since we started, not forever. */
  private AtomicLong cell(RaftGroupId group) {
    return lastAppendNanos.computeIfAbsent(group, id -> new AtomicLong(System.nanoTime()));
  }

  /** Whether no lease can rest on an append that this member has answered. */
  boolean isLeaseOver(RaftGroupId group) {
    return millisUntilLeaseIsOver(group) <= 0 || isUntouched(group);
  }

  /** Whether this member has never answered an append, so that a young group need not wait. */
  private boolean isUntouched(RaftGroupId group) {
    EarlyElection election = elections.get(group);
    if (election == null || heard.contains(group)) {
      return false;
    }
    RaftServer.Division division = election.member().division();
    return division.getRaftLog().getLastEntryTermIndex() == null
        && division.getInfo().getLastAppliedIndex() < 0;
  }

  /** For how long this process has been running and heard no word of the leader, or nearly. */
  long silentMillis(RaftGroupId group) {
    long since = Math.max(lastAppendNanos(group) - awakeSinceNanos, 0) + awakeSinceNanos;
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since);
  }

  /**
   * Whether a leader of which another member has heard nothing is silent here, too. A bit less than
   * for that one will do: the last heartbeat was not sent to both at the same time.
   */
  boolean isSilentToo(RaftGroupId group) {
    return silentMillis(group) >= settings.electionTimeoutMinMillis();
  }

  /** With a margin for clocks that don't run equally fast. */
  long millisUntilLeaseIsOver(RaftGroupId group) {
    long lease = settings.leaseMillis();
    long quiet = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - lastAppendNanos(group));
    return lease + lease / 20 + 5 - quiet;
  }

  /** This node's replica of a group; empty if it has none. */
  Optional<RatisMember> member(RaftGroupId group) {
    return Optional.ofNullable(elections.get(group)).map(EarlyElection::member);
  }

  /** Asks the leader whether it is still handing over to this node; no answer is a no. */
  CompletableFuture<Boolean> isStillOn(RaftPeerId leader, HandOver.Question question) {
    return rpc.ask(leader, question);
  }

  boolean wouldVote(EarlyQuestion question) {
    EarlyElection election = elections.get(question.group());
    return election != null && election.wouldVote(question);
  }

  /** Refuses for a replica that must not lead, or is not known yet. */
  void beforeCandidacy(RaftGroupId group, boolean isPreVote) throws IOException {
    RatisMember member =
        member(group).orElseThrow(() -> new IOException("The replica is still starting."));
    member.beforeCandidacy(isPreVote);
  }

  /**
   * Whether those who may have renewed the leader's lease must refuse this vote: all but what the
   * leader itself wants. If an append came after we decided to stand, its answer may have renewed
   * the lease. Then the vote must not be asked for at all.
   */
  boolean isGuarded(RaftGroupId group, RequestVoteRequestProto request) throws IOException {
    if (request.getPreVote()) {
      return false;
    }
    EarlyElection election = elections.get(group);
    if (election != null && election.member().handOver().isGranted(request.getCandidateTerm())) {
      return false;
    }
    if (!isLeaseOver(group)) {
      throw new IOException("The leader is alive.");
    }
    return true;
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
