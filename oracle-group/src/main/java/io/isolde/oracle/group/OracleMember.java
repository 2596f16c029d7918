// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.OracleStatistics;
import io.isolde.oracle.Outcome;
import io.isolde.oracle.PendingCommit;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import io.isolde.raft.Daemons;
import io.isolde.raft.GroupFailure.Reason;
import io.isolde.raft.LeaderListener;
import io.isolde.raft.Peer;
import io.isolde.raft.RaftNode;
import io.isolde.raft.RaftReplica;
import io.isolde.raft.ratis.RatisNode;
import io.isolde.raft.transport.LogLimit;
import io.isolde.raft.transport.PeerTransport;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A member of the oracle's group: its replica, and all that it takes to lead. */
final class OracleMember implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(OracleMember.class);
  private final LogLimit logLimit = new LogLimit();
  private static final long TASK_INTERVAL_MILLIS = 50;
  private static final long MAX_AHEAD_DAYS = 366; // All later timestamps would be ahead, too.

  private final ReplicaHost host;
  private final Clock clock;
  private final RaftNode node;
  private final RaftReplica replica;
  private final Sequencer sequencer;
  private final StartTimestampBatcher starts;
  private final ResponseSender answering;
  private final RecentWrites recent;
  final Changes changes;
  private final Rates rates = new Rates();
  private final ScheduledExecutorService tasks =
      Executors.newSingleThreadScheduledExecutor(Daemons.named("isolde-oracle-duties"));
  private long startsAtLastTask;

  /**
   * Starts one.
   *
   * @param initialMembers the members of a new group; empty for one that joins
   * @param applier what applies commits on this node when it leads
   * @param whenVisible asks the leader when all commits up to a timestamp are visible
   */
  OracleMember(
      OracleGroupConfig config,
      UUID group,
      PeerTransport transport,
      List<Peer> initialMembers,
      Path directory,
      Supplier<CommitApplier> applier,
      LongFunction<CompletableFuture<Long>> whenVisible,
      Clock clock)
      throws IOException {
    changes = new Changes(whenVisible);
    host = new ReplicaHost(config, clock, changes);
    this.clock = clock;
    recent = new RecentWrites(host);
    answering = new ResponseSender(host, applier, this::applied, this::answerWhenStable);
    OracleStateMachine machine =
        new OracleStateMachine(
            host,
            recent,
            config.logKeepMillis(),
            config.raft().snapshotEveryEntries(),
            this::onApplied);
    node = RatisNode.start(transport, directory, config.raft());
    try {
      replica = node.addGroup(group, initialMembers, machine);
    } catch (IOException | RuntimeException e) {
      node.close();
      throw e;
    }
    recent.readFrom(replica);
    sequencer = new Sequencer(replica, host, this::leading, config, rates);
    starts = new StartTimestampBatcher(replica, host, this::leading, config.maxQueued(), rates);
    replica.addListener(new LeaderStates());
    if (replica.isLeader()) {
      // It was elected before it was listened to.
      new LeaderStates().leaderReady(replica.term());
    }
    var unused =
        tasks.scheduleWithFixedDelay(
            this::runTasks, TASK_INTERVAL_MILLIS, TASK_INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
  }

  private final class LeaderStates implements LeaderListener {
    @Override
    public void leaderReady(long term) {
      sequencer.lead(term);
    }

    @Override
    public void steppedDown() {
      stepDown();
    }
  }

  private void stepDown() {
    List<Request> waiting = host.stepDown();
    Leading now = leading();
    waiting.forEach(request -> request.notLeader(now));
  }

  private void onApplied(EntryMessage message, AppliedEntry applied) {
    if (message != null) {
      answering.answer(message, applied.answers());
    }
    Request.answerAll(applied.nowStable(), applied.stable());
    changes.visible(applied.stable().timestamp());
  }

  /**
   * A commit is applied, as who asks says; answers when it is visible, or a little later. One that
   * was in doubt is avoided until the log knows better.
   */
  void applied(long commitTimestamp, Request request) {
    Optional<ReportResult> reported = report(List.of(commitTimestamp));
    if (reported.isPresent() && reported.get().isInDoubt()) {
      logApplied(commitTimestamp, request);
    } else {
      answerWhenStable(commitTimestamp, request);
    }
  }

  /** See {@link OracleNode#applied}. */
  Optional<Stable> applied(Collection<Long> commitTimestamps) {
    return report(commitTimestamps)
        .filter(reported -> !reported.isInDoubt())
        .map(ReportResult::stable);
  }

  /** As {@link #applied(long, Request)}, but does not answer before the log knows it. */
  void logApplied(long commitTimestamp, Request request) {
    offer(new Command.Applied(commitTimestamp), null, request);
  }

  /** Tells those who have waited for it. */
  private Optional<ReportResult> report(Collection<Long> commitTimestamps) {
    Optional<ReportResult> reported = host.applied(commitTimestamps);
    reported.ifPresent(
        unreported -> {
          Request.answerAll(unreported.nowStable(), unreported.stable());
          changes.visible(unreported.stable().timestamp());
        });
    return reported;
  }

  /** Renews a lease; empty if this member does not serve. */
  Optional<RenewedLease> renew(long session, long oldestStart, List<Long> appliedCommits) {
    return report(appliedCommits)
        .flatMap(reported -> host.renew(session, oldestStart, reported.unlogged()));
  }

  /** Completes when this member led at a moment after the call; fails if that is not known. */
  CompletableFuture<Void> leads() {
    return replica.barrier();
  }

  /** Answers now or later. */
  void answerWhenStable(long timestamp, Request request) {
    WaitResult found = host.stableOrWait(timestamp, request);
    if (found instanceof WaitResult.Now now) {
      request.answer(now.stable());
    } else if (found instanceof WaitResult.TooMany) {
      rates.overload();
      request.overloaded();
    } else if (found instanceof WaitResult.NotServing) {
      request.notLeader(leading());
    }
  }

  /** A coordinator's command, unless it is one that no coordinator may give. */
  void execute(Command command, byte[] encoded, Request request) {
    if (command instanceof Command.Applied) {
      request.refused("What is applied is told with APPLIED or LOG_APPLIED.");
    } else if (command instanceof Command.Lead
        || command instanceof Command.FenceSession
        || command instanceof Command.DeclareInDoubt) {
      request.refused("Only the oracle's leader does that.");
    } else if (command instanceof Command.IssueTimestamp issue && isTooFarAhead(issue)) {
      request.refused(
          "The timestamp " + issue.aboveMicros() + " is more than a year ahead of the clock.");
    } else if (command instanceof Command.Commit commit && !isStart(commit)) {
      refuseStart(commit, encoded, request);
    } else {
      offer(command, encoded, request);
    }
  }

  private boolean isTooFarAhead(Command.IssueTimestamp issue) {
    Instant most = clock.instant().plus(MAX_AHEAD_DAYS, ChronoUnit.DAYS);
    return issue.aboveMicros() > ChronoUnit.MICROS.between(Instant.EPOCH, most);
  }

  private boolean isStart(Command.Commit commit) {
    return host.isStart(commit.request().startTimestamp());
  }

  /** The replicas must not be asked; but if another member leads, it may know better. */
  private void refuseStart(Command.Commit commit, byte[] encoded, Request request) {
    var unused =
        replica
            .barrier()
            .whenComplete(
                (leads, error) -> {
                  if (error != null) {
                    request.notLeader(leading());
                  } else if (isStart(commit)) {
                    offer(commit, encoded, request);
                  } else if (host.isServing()) {
                    request.refused(
                        "No transaction was given the start timestamp "
                            + commit.request().startTimestamp()
                            + ".");
                  } else {
                    request.notLeader(leading());
                  }
                });
  }

  /** Puts a command into the queue for the log. */
  void offer(Command command, byte[] encoded, Request request) {
    EntryMessage.Item item = new EntryMessage.Item(command, request, encoded);
    Reason refusal = sequencer.offer(item).orElse(null);
    if (refusal == Reason.OVERLOADED) {
      rates.overload();
      request.overloaded();
    } else if (refusal == Reason.REFUSED) {
      request.refused(sequencer.refusal(item));
    }
  }

  private void runTasks() {
    try {
      sequencer.leadAgain();
      changes.follows(replica.leader().isPresent(), System.nanoTime());
      Stable stable = host.stable();
      host.overdueWaiters().forEach(request -> request.answer(stable));
      long begun = rates.starts();
      List<Command> due = host.tasks(begun != startsAtLastTask);
      warnOfInDoubt(due);
      for (Command task : due) {
        if (task instanceof Command.FenceSession fence) {
          if (logLimit.allows("fence")) {
            log.warn(
                "Session {} has been silent for its lease and is fenced; for a minute no other is"
                    + " logged",
                fence.session());
          }
        }
        var unused = sequencer.offer(new EntryMessage.Item(task, null));
      }
      startsAtLastTask = begun;
    } catch (RuntimeException | Error e) {
      if (logLimit.allows("duties")) {
        log.error("The leader's duties failed; they are tried again", e);
      }
    }
  }

  private void warnOfInDoubt(List<Command> tasks) {
    List<Command.DeclareInDoubt> late =
        tasks.stream()
            .filter(Command.DeclareInDoubt.class::isInstance)
            .map(Command.DeclareInDoubt.class::cast)
            .toList();
    if (!late.isEmpty() && logLimit.allows("late")) {
      log.warn(
          "{} commits, the first at {}, are not known to be applied: who needs their rows waits for"
              + " them, all others go on without them",
          late.size(),
          late.get(0).commitTimestamp());
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

  StartTimestampBatcher starts() {
    return starts;
  }

  RecentWrites recent() {
    return recent;
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
        host.stable().timestamp(),
        statistics.lastIssued(),
        host.lowWatermark(),
        statistics.pendingCommits(),
        statistics.inDoubtCommits(),
        statistics.committed(),
        statistics.readWriteAborts() + statistics.writeWriteAborts(),
        statistics.forgottenAborts(),
        replica.appliedIndex(),
        rates.entries(),
        rates.commands(),
        rates.starts(),
        rates.beginBatches(),
        rates.overloads(),
        sequencer.queued(),
        sessions);
  }

  @Override
  public void close() {
    tasks.shutdownNow();
    sequencer.close();
    starts.close();
    recent.close();
    changes.close();
    node.close();
    // Ratis says so only to those who were there when it stepped down.
    stepDown();
  }
}
