// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.OracleStatistics;
import io.isolde.oracle.Outcome;
import io.isolde.oracle.PendingCommit;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import io.isolde.raft.LeaderListener;
import io.isolde.raft.Peer;
import io.isolde.raft.PeerTransport;
import io.isolde.raft.RaftNode;
import io.isolde.raft.RaftReplica;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.protocol.RaftGroupId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A member of the oracle's group: its replica, and all that it takes to lead. */
final class OracleMember implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(OracleMember.class);
  private static final long DUTY_INTERVAL_MILLIS = 50;

  private final ReplicaHost host;
  private final RaftNode node;
  private final RaftReplica replica;
  private final Sequencer sequencer;
  private final Begins begins;
  private final OracleStateMachine machine;
  private final Rates rates = new Rates();
  private final ScheduledExecutorService duties =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "isolde-oracle-duties");
            thread.setDaemon(true);
            return thread;
          });
  private long beginsAtLastDuty;

  /**
   * Starts a member.
   *
   * @param founders the members of a new group; empty for one that is to be added to an old one
   */
  OracleMember(
      OracleGroupConfig config,
      UUID group,
      PeerTransport transport,
      List<Peer> founders,
      Path directory,
      Clock clock)
      throws IOException {
    host =
        new ReplicaHost(config.bounds(), config.reservationMicros(), config.leaseMillis(), clock);
    machine = new OracleStateMachine(host, this::onApplied);
    RaftGroupId groupId = RaftGroupId.valueOf(group);
    node =
        RaftNode.builder(transport)
            .directory(directory)
            .settings(config.raft())
            .group(groupId, founders, machine)
            .start();
    replica = node.replica(groupId);
    sequencer = new Sequencer(replica, host, this::leading, config.maxQueued(), rates);
    begins = new Begins(replica, host, this::leading, config.maxQueued(), rates);
    replica.addListener(new Reigns());
    if (replica.isLeader()) {
      // It was elected before it was listened to.
      new Reigns().leaderReady(replica.term());
    }
    var unused =
        duties.scheduleWithFixedDelay(
            this::doDuties, DUTY_INTERVAL_MILLIS, DUTY_INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
  }

  private final class Reigns implements LeaderListener {
    @Override
    public void leaderReady(long term) {
      host.lead(term).ifPresent(sequencer::propose);
    }

    @Override
    public void steppedDown() {
      Leading now = leading();
      host.stepDown().forEach(request -> request.notLeader(now));
    }
  }

  private void onApplied(EntryMessage message, ReplicaHost.Applied applied) {
    if (message != null) {
      OracleService.answer(message, applied, host);
    }
    for (Request request : applied.nowStable()) {
      request.answer(applied.stable());
    }
  }

  private void doDuties() {
    try {
      long begun = rates.begins();
      for (Command duty : host.duties(begun != beginsAtLastDuty)) {
        if (duty instanceof Command.FenceSession fence) {
          log.warn("Session {} has been silent for its lease and is fenced", fence.session());
        }
        var unused = sequencer.offer(new EntryMessage.Item(duty, null));
      }
      beginsAtLastDuty = begun;
    } catch (RuntimeException e) {
      log.error("The leader's duties failed; they are tried again", e);
    }
  }

  void outcome(UUID transactionId, Request request) {
    var unused =
        replica
            .barrier()
            .whenComplete(
                (leads, error) -> {
                  if (error != null) {
                    request.notLeader(leading());
                  } else {
                    request.answer(
                        OracleService.outcome(
                            host.outcome(transactionId).map(OracleMember::answer)));
                  }
                });
  }

  private static Answer answer(Outcome outcome) {
    return new Answer.Ended(outcome);
  }

  ReplicaHost host() {
    return host;
  }

  Sequencer sequencer() {
    return sequencer;
  }

  Begins begins() {
    return begins;
  }

  Rates rates() {
    return rates;
  }

  RaftReplica replica() {
    return replica;
  }

  List<PendingCommit> orphans() {
    return host.orphans();
  }

  Leading leading() {
    return new Leading(host.isServing(), replica.term(), replica.leader(), replica.members());
  }

  OracleStatus status() {
    OracleStatistics statistics = host.look(copy -> copy.statistics());
    List<OracleStatus.Session> sessions =
        host.look(
            copy ->
                copy.openSessions().stream()
                    .map(
                        number ->
                            new OracleStatus.Session(
                                number,
                                copy.coordinatorOf(number).orElseThrow(),
                                host.silentMillis(number)))
                    .toList());
    Optional<Peer> leader = replica.leader();
    return new OracleStatus(
        leader,
        replica.term(),
        replica.members(),
        statistics.stable(),
        statistics.lastIssued(),
        host.lowWatermark(),
        statistics.pendingCommits(),
        statistics.committed(),
        statistics.readWriteAborts() + statistics.writeWriteAborts(),
        statistics.forgottenAborts(),
        machine.getLastAppliedTermIndex().getIndex(),
        rates.entries(),
        rates.commands(),
        rates.begins(),
        rates.beginBatches(),
        rates.overloads(),
        sequencer.queued(),
        sessions);
  }

  @Override
  public void close() {
    duties.shutdownNow();
    sequencer.close();
    begins.close();
    node.close();
  }
}
