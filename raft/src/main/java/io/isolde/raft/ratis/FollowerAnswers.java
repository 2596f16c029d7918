// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.RaftSettings;
import java.util.Collection;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.leader.LogAppender;
import org.apache.ratis.util.Timestamp;

/**
 * Proves by the followers' answers that this node led at a moment. Ratis' word is not enough. When
 * a round of heartbeats has confirmed it once as the leader, it asks nobody any more until
 * something else is committed (3.3.0, {@code ReadIndexHeartbeats}). It goes on reading what there
 * was while it is cut off and another leads.
 */
final class FollowerAnswers {
  /** More reads than that don't wait for an answer; they fail. */
  private static final int MAX_WAITING = 65_536;

  private final RaftSettings settings;

  /** Of this leader's latest term, by the follower. */
  private final Map<RaftPeerId, LogAppender> appenders = new ConcurrentHashMap<>();

  /** Whether this leader is of no use, so that it must let another lead. */
  private volatile boolean isSilent;

  private final Queue<Proof> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicInteger count = new AtomicInteger();

  /** Somebody wants to know whether this node leads at a moment after it asked. */
  private record Proof(
      RaftServer.Division division, Timestamp asked, CompletableFuture<Boolean> isProven) {}

  FollowerAnswers(RaftSettings settings) {
    this.settings = settings;
  }

  /** A leader begins to send to a follower. */
  void add(LogAppender appender) {
    appenders.put(appender.getFollowerId(), appender);
  }

  /** Whether this leader must send nothing, to be replaced. */
  boolean mustBeSilent() {
    return isSilent;
  }

  /**
   * A leader whose disk hangs is of no use if the others could commit without it. One that can't
   * apply is of none if there is another: it would answer nobody.
   *
   * @param flushed the last entry on its disk
   */
  void silenceIfUseless(
      RaftServer.Division division, boolean isStalled, long flushed, boolean canApply) {
    isSilent =
        division.getInfo().isLeader()
            && (isSilent
                ? isStalled || !canApply
                : (isStalled && areAhead(division.getRaftConf(), flushed))
                    || (!canApply && hasCompany(division)));
  }

  private boolean hasCompany(RaftServer.Division division) {
    return division.getRaftConf().getCurrentPeers().stream()
        .anyMatch(peer -> !peer.getId().equals(division.getId()) && isAlive(peer.getId()));
  }

  private boolean areAhead(RaftConfiguration members, long flushed) {
    return areAhead(members.getCurrentPeers(), flushed)
        && (members.getPreviousPeers().isEmpty() || areAhead(members.getPreviousPeers(), flushed));
  }

  private boolean areAhead(Collection<RaftPeer> peers, long flushed) {
    long ahead =
        peers.stream().filter(peer -> isAhead(appenders.get(peer.getId()), flushed)).count();
    return ahead > peers.size() / 2;
  }

  private static boolean isAhead(LogAppender appender, long flushed) {
    return appender != null
        && appender.isRunning()
        && appender.getFollower().getMatchIndex() > flushed;
  }

  /** A follower has answered. */
  void answered() {
    for (Proof proof : waiting) {
      completeIfProven(proof);
    }
  }

  /** This node leads no more. */
  void giveUp() {
    waiting.forEach(proof -> proof.isProven().complete(false));
  }

  /**
   * Completes with true when it is certain that no other had been elected at a moment after it was
   * asked: a majority has answered what was sent since, or so lately that a lease rests on it. Else
   * with false, after the time-out of a request at the latest.
   */
  CompletableFuture<Boolean> leadsAfter(RaftServer.Division division, Timestamp asked) {
    if (isProven(division, asked)) {
      return CompletableFuture.completedFuture(true);
    }
    if (count.incrementAndGet() > MAX_WAITING) {
      count.decrementAndGet();
      return CompletableFuture.completedFuture(false);
    }
    Proof proof = new Proof(division, asked, new CompletableFuture<>());
    CompletableFuture<Boolean> known =
        proof
            .isProven()
            .completeOnTimeout(false, settings.requestTimeoutMillis(), TimeUnit.MILLISECONDS)
            .whenComplete((proven, failure) -> forget(proof));
    waiting.add(proof);
    completeIfProven(proof); // The answer may have come before it was there.
    appenders.values().forEach(LogAppender::triggerHeartbeat);
    return known;
  }

  /** As {@link #leadsAfter}, if that is certain already. */
  boolean leadsNow(RaftServer.Division division) {
    return isProven(division, Timestamp.currentTime());
  }

  private void forget(Proof proof) {
    waiting.remove(proof);
    count.decrementAndGet();
  }

  private void completeIfProven(Proof proof) {
    if (isProven(proof.division(), proof.asked())) {
      proof.isProven().complete(true);
    }
  }

  private boolean isProven(RaftServer.Division division, Timestamp asked) {
    Timestamp since = asked;
    if (settings.leaseReads()) {
      since = Timestamp.earliest(since, Timestamp.currentTime().addTimeMs(-settings.leaseMillis()));
    }
    RaftConfiguration members = division.getRaftConf();
    return hasMajority(members.getCurrentPeers(), division.getId(), since)
        && (members.getPreviousPeers().isEmpty()
            || hasMajority(members.getPreviousPeers(), division.getId(), since));
  }

  private boolean hasMajority(Collection<RaftPeer> peers, RaftPeerId self, Timestamp since) {
    long votes =
        peers.stream()
            .map(RaftPeer::getId)
            .filter(peer -> peer.equals(self) || hasAnswered(peer, since))
            .count();
    return votes > peers.size() / 2;
  }

  /** Whether a follower has answered an append as lately as one that is alive does. */
  boolean isAlive(RaftPeerId peer) {
    return hasAnswered(
        peer, Timestamp.currentTime().addTimeMs(-settings.electionTimeoutMinMillis()));
  }

  private boolean hasAnswered(RaftPeerId peer, Timestamp since) {
    LogAppender appender = appenders.get(peer);
    return appender != null
        && appender.isRunning()
        && appender.getFollower().getLastRespondedAppendEntriesSendTime().compareTo(since) >= 0;
  }
}
