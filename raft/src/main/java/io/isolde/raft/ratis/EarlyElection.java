// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.RaftSettings;
import io.isolde.raft.transport.PeerLink;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.client.impl.ClientProtoUtils;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One group's part in {@link LeaderWatch}. All steps run on the watch's thread. */
final class EarlyElection {
  private static final Logger log = LoggerFactory.getLogger(EarlyElection.class);

  /** While a process dies, its port may still accept for a moment. */
  private static final int PROBE_AGAIN_MILLIS = 50;

  private final RatisMember member;
  private final RaftGroupId group;
  private final LeaderWatch watch;
  private final RaftRpcService rpc;
  private final RaftSettings settings;

  /** The leader that is perhaps dead, or silent, or null. */
  private RaftPeerId suspect;

  /** Whether it is silent; else its process is perhaps dead. */
  private boolean isSilent;

  private long suspectedNanos;

  EarlyElection(RatisMember member, LeaderWatch watch, RaftRpcService rpc, RaftSettings settings) {
    this.member = member;
    this.group = member.group();
    this.watch = watch;
    this.rpc = rpc;
    this.settings = settings;
  }

  RatisMember member() {
    return member;
  }

  void onLost(String peer) {
    DivisionInfo info = member.division().getInfo();
    RaftPeerId leader = info.getLeaderId();
    if (suspect != null || leader == null || !leader.toString().equals(peer) || info.isLeader()) {
      return;
    }
    suspect(leader, false);
    probe();
  }

  /** To be called now and then. */
  void look() {
    DivisionInfo info = member.division().getInfo();
    RaftPeerId leader = info.getLeaderId();
    if (suspect != null || leader == null || !info.isFollower()) {
      return;
    }
    long quiet = watch.silentMillis(group) - settings.silenceMillis();
    if (quiet >= 0 && quiet >= (long) step(leader) * settings.stepMillis()) {
      suspect(leader, true);
      later(this::ask, 0);
    }
  }

  private void suspect(RaftPeerId leader, boolean silent) {
    suspect = leader;
    isSilent = silent;
    suspectedNanos = System.nanoTime();
  }

  private void probe() {
    if (isOver()) {
      suspect = null;
      return;
    }
    try {
      var unused = rpc.control(suspect).probe().whenComplete((c, failure) -> onProbed(failure));
    } catch (IOException e) {
      suspect = null;
    }
  }

  private void onProbed(Throwable failure) {
    if (!PeerLink.isRefusal(failure)) {
      log.debug("{}: probed {}", member.division().getMemberId(), suspect, failure);
      later(this::probe, PROBE_AGAIN_MILLIS);
      return;
    }
    long lease = watch.millisUntilLeaseIsOver(group);
    later(this::ask, Math.max(0, lease) + (long) step(suspect) * settings.stepMillis());
  }

  /** Whether there is a leader, or this member is none that may stand, or time is up. */
  private boolean isOver() {
    if (suspect == null) {
      return true;
    }
    DivisionInfo info = member.division().getInfo();
    RaftPeerId leader = info.getLeaderId();
    long elapsed = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - suspectedNanos);
    return !info.isFollower()
        || (leader != null && !leader.equals(suspect))
        || elapsed > settings.electionTimeoutMaxMillis();
  }

  /** This member's place among those that are left. */
  private int step(RaftPeerId leader) {
    return (int)
        survivors(leader).stream().filter(peer -> peer.compareTo(self().toString()) < 0).count();
  }

  private List<String> survivors(RaftPeerId leader) {
    List<String> names = new ArrayList<>();
    for (RaftPeer peer : member.division().getRaftConf().getCurrentPeers()) {
      if (!peer.getId().equals(leader)) {
        names.add(peer.getId().toString());
      }
    }
    return names;
  }

  private RaftPeerId self() {
    return member.division().getId();
  }

  private void ask() {
    if (isOver()) {
      suspect = null;
      return;
    }
    if (isSilent && !watch.isSilentToo(group)) {
      suspect = null; // It is silent no more.
      return;
    }
    if (!watch.isLeaseOver(group)) {
      later(this::probe, PROBE_AGAIN_MILLIS); // An append came late, or the leader is alive.
      return;
    }
    RaftServer.Division division = member.division();
    List<String> survivors = survivors(suspect);
    if (!survivors.contains(self().toString())
        || !division.getRaftConf().getPreviousPeers().isEmpty()) {
      suspect = null; // Members change: leave it to the time-out.
      return;
    }
    long term = division.getInfo().getCurrentTerm();
    TermIndex last = lastEntry();
    int majority = division.getRaftConf().getCurrentPeers().size() / 2 + 1;
    List<CompletableFuture<Boolean>> answers = new ArrayList<>();
    for (String peer : survivors) {
      if (!peer.equals(self().toString())) {
        EarlyQuestion question = new EarlyQuestion(group, suspect.toString(), isSilent, term, last);
        answers.add(rpc.ask(RaftPeerId.valueOf(peer), question));
      }
    }
    CompletableFuture<Void> all =
        CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new));
    var unused =
        all.completeOnTimeout(null, settings.stepMillis(), TimeUnit.MILLISECONDS)
            .thenRun(() -> later(() -> stand(term, last, majority, answers), 0));
  }

  private void stand(
      long term, TermIndex last, int majority, List<CompletableFuture<Boolean>> answers) {
    long votes = 1 + answers.stream().filter(answer -> answer.getNow(false)).count();
    if (isOver()) {
      suspect = null;
      return;
    }
    if (votes < majority || !watch.isLeaseOver(group)) {
      later(this::ask, (long) Math.max(1, survivors(suspect).size()) * settings.stepMillis());
      return;
    }
    log.info(
        "{}: leader {} is {} and its lease over; standing early in term {}",
        member.division().getMemberId(),
        suspect,
        isSilent ? "silent" : "dead",
        term + 1);
    try {
      var unused = member.stand(fromLeader(term, last));
    } catch (IOException e) {
      log.info("{}: cannot stand early", member.division().getMemberId(), e);
    }
    suspect = null;
  }

  /** As the leader would have asked us in a hand-over. */
  private StartLeaderElectionRequestProto fromLeader(long term, TermIndex last) {
    return StartLeaderElectionRequestProto.newBuilder()
        .setServerRequest(
            ClientProtoUtils.toRaftRpcRequestProtoBuilder(
                RaftGroupMemberId.valueOf(suspect, group), self()))
        .setLeaderLastEntry(TermIndex.valueOf(term, last.getIndex()).toProto())
        .build();
  }

  private TermIndex lastEntry() {
    TermIndex last = member.division().getRaftLog().getLastEntryTermIndex();
    return last != null ? last : TermIndex.INITIAL_VALUE;
  }

  /**
   * This member's answer to another that would stand early. It may be a candidate itself that has
   * not got beyond pre-votes: with a short log it would stay one until its time-out is over.
   */
  boolean wouldVote(EarlyQuestion question) {
    DivisionInfo info = member.division().getInfo();
    RaftPeerId leader = info.getLeaderId();
    return !info.isLeader()
        && (leader == null || leader.toString().equals(question.leader()))
        && question.term() >= info.getCurrentTerm()
        && question.lastEntry().compareTo(lastEntry()) >= 0
        && watch.isLeaseOver(group)
        && (!question.isSilent() || watch.isSilentToo(group));
  }

  private void later(Runnable step, long millis) {
    try {
      var unused = watch.timer().schedule(() -> run(step), millis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // The node is closed.
    }
  }

  private void run(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException e) {
      suspect = null; // Else nobody would be suspected any more.
      log.warn("{}: cannot stand early", member.division().getMemberId(), e);
    }
  }
}
