// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import io.isolde.oracle.OracleConfig;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import io.isolde.oracle.replica.CommandCodec;
import io.isolde.oracle.replica.CoordinatorLeases;
import io.isolde.oracle.replica.Leadership;
import io.isolde.oracle.replica.LogEntry;
import io.isolde.oracle.replica.OracleReplica;
import io.isolde.oracle.replica.OverdueCommits;
import io.isolde.oracle.replica.RecentCommits;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** A member of the group: the adapter around an {@link OracleReplica}, as simple as it can be. */
final class Member {
  static final long LEASE_MILLIS = 40;
  private static final long OVERDUE_MILLIS = 12;
  private static final long CATCH_UP_MILLIS = 6;
  private static final long RESERVATION_MICROS = 5_000;
  private static final int MAX_UNDER_WAY = 4;
  private static final int MAX_COMMANDS = 5;

  private final World world;
  private final Timeline time;
  private final OracleConfig config;
  final int number;
  final RaftModel.Node node;
  private final LeaderApplying applying;

  OracleReplica replica = new OracleReplica();
  int applied;
  RecentCommits recent = new RecentCommits(0);

  /** Before the last entry. */
  private long earlierEpoch;

  private byte[] saved;
  private int savedAt;

  /** What the wall clock is off by. */
  private long clockOffset;

  /** Null unless the member leads, or was not told yet that it no longer does. */
  LeaderState leaderState;

  Member(World world, int number, OracleConfig config) {
    this.world = world;
    this.time = world.time;
    this.number = number;
    this.config = config;
    this.node = world.raft.nodes.get(number);
    this.applying = new LeaderApplying(world, this);
    this.saved = StateBytes.of(replica);
    time.after(time.below(500), this::tick);
  }

  private long clock() {
    return Math.max(0, time.nowMicros() + clockOffset);
  }

  private long monotonicMillis() {
    return time.nowMicros() / 1000;
  }

  void jumpClock(long micros) {
    world.counts.add(Happening.CLOCK_JUMPS);
    clockOffset += micros;
    time.remark("clock of member", number, "jumps by", micros);
  }

  private void tick() {
    time.after(300 + time.below(1200), this::tick);
    if (!node.isUp) {
      return;
    }
    followRaft();
    if (leaderState != null && node.leads && leaderState.term == node.term) {
      lead();
    }
    node.known = Math.max(node.known, time.oneIn(3) ? node.known : node.knowable);
    applyTo(time.oneIn(3) ? Math.min(node.known, applied + 1) : node.known);
    if (time.oneIn(60)) {
      saved = StateBytes.of(replica);
      savedAt = applied;
    }
  }

  /** A member may learn late that it no longer leads. */
  private void followRaft() {
    boolean isOver = leaderState != null && (!node.leads || leaderState.term != node.term);
    if (isOver && (!world.isFaulty || time.oneIn(12))) {
      endLeadership();
    }
    if (leaderState == null && node.leads) {
      applyTo(node.known);
      CoordinatorLeases leases =
          new CoordinatorLeases(LEASE_MILLIS, replica.openSessions(), monotonicMillis());
      OverdueCommits overdue = new OverdueCommits(OVERDUE_MILLIS, monotonicMillis());
      Leadership leadership = new Leadership(replica, RESERVATION_MICROS);
      leaderState = new LeaderState(node.term, leadership, leases, overdue, monotonicMillis());
      LogEntry first = leaderState.leadership.firstEntry(config, clock());
      propose(first, List.of());
      time.remark("member", number, "leads in term", node.term);
    }
  }

  private void endLeadership() {
    leaderState.queue.forEach(item -> item.reply().accept(new Response.NotLeader()));
    leaderState.waiters.forEach(waiter -> waiter.reply().accept(new Response.NotLeader()));
    leaderState = null;
  }

  private void lead() {
    if (leaderState.leadership.isServing()) {
      performDuties();
      while (!leaderState.queue.isEmpty()
          && leaderState.leadership.entriesUnderWay() < MAX_UNDER_WAY
          && !time.oneIn(3)) {
        proposeQueued();
      }
    }
    for (Member other : world.members) {
      if (!world.isFaulty || !time.oneIn(3)) {
        world.raft.replicate(node, other.node, 1 + time.below(6));
      }
    }
    world.raft.commit(node);
  }

  private void performDuties() {
    for (long session : leaderState.leases.expired(monotonicMillis())) {
      enqueue(new Command.FenceSession(session), unheard -> {});
    }
    if (!leaderState.leadership.isCaughtUp()
        && monotonicMillis() - leaderState.sinceMillis > CATCH_UP_MILLIS) {
      leaderState.overdue.hasten(leaderState.leadership.caughtUpAt());
    }
    for (long commit : leaderState.overdue.due(replica, monotonicMillis())) {
      enqueue(new Command.DeclareInDoubt(commit), unheard -> {});
    }
    if (leaderState.queue.isEmpty() && time.oneIn(8)) {
      leaderState
          .leadership
          .unreported()
          .ifPresent(unreported -> enqueue(unreported, unheard -> {}));
    }
    if (leaderState.queue.isEmpty() && leaderState.leadership.needsReservation(clock())) {
      enqueue(new Command.IssueTimestamp(0), unheard -> {});
    }
  }

  private void enqueue(Command command, Consumer<Response> reply) {
    leaderState.queue.add(new Proposal.Item(command, false, reply));
  }

  private void proposeQueued() {
    List<Proposal.Item> items = new ArrayList<>();
    int count = 1 + time.below(MAX_COMMANDS);
    while (items.size() < count && !leaderState.queue.isEmpty()) {
      items.add(leaderState.queue.remove());
    }
    List<Command> commands = items.stream().map(Proposal.Item::command).toList();
    propose(leaderState.leadership.entry(commands, clock()), items);
  }

  /** Now and then the log refuses, or it isn't known whether it did. */
  private void propose(LogEntry entry, List<Proposal.Item> items) {
    boolean isFirst = items.isEmpty();
    boolean fails = world.isFaulty && !isFirst && time.oneIn(40);
    if (fails) {
      leaderState.leadership.entryDropped(entry);
    } else {
      LogEntry content = entry;
      if (world.mutates(Mutation.SKIP_FLOOR)) {
        content = new LogEntry(entry.timeMicros(), 0, entry.reserveUntilMicros(), entry.commands());
      }
      node.log.add(
          new RaftModel.Entry(node.term, content, new Proposal(leaderState, entry, items)));
      if (world.mutates(Mutation.DROP_WHAT_MAY_BE_APPLIED) && time.oneIn(4)) {
        leaderState.leadership.entryDropped(entry);
      }
    }
    if (fails || (world.isFaulty && time.oneIn(40))) {
      items.forEach(item -> item.reply().accept(new Response.NotLeader()));
    }
  }

  private void applyTo(int size) {
    while (applied < size) {
      RaftModel.Entry entry = node.log.get(applied);
      LogEntry content = entry.content();
      if (time.oneIn(4)) {
        content = CommandCodec.decodeEntry(ByteBuffer.wrap(CommandCodec.encode(content)));
      }
      earlierEpoch = replica.inDoubt().epoch();
      List<Answer> answers = replica.apply(content);
      recent.applied(applied++, content, answers);
      world.checker.onApplied(this, applied, entry, answers);
      if (leaderState != null) {
        onApplied(entry, answers);
      }
    }
  }

  private void onApplied(RaftModel.Entry entry, List<Answer> answers) {
    leaderState.leases.follow(replica.openSessions(), monotonicMillis());
    if (entry.proposal().leaderState() == leaderState) {
      leaderState.leadership.entryApplied(entry.proposal().entry());
      applying.answer(entry.proposal().items(), answers, replica.stable());
    }
    if (leaderState.leadership.isServing()) {
      leaderState.hasServed = true;
      answerWaiters();
    }
  }

  void answerWaiters() {
    long stable = start();
    List<LeaderState.Waiter> ready =
        leaderState.waiters.stream().filter(waiter -> waiter.timestamp() <= stable).toList();
    leaderState.waiters.removeAll(ready);
    ready.forEach(waiter -> waiter.reply().accept(new Response.Stable(stable, epoch())));
  }

  private void applied(Request.Applied applied, Consumer<Response> reply) {
    long commitTimestamp = applied.commitTimestamp();
    List<Long> unlogged = leaderState.leadership.applied(List.of(commitTimestamp));
    if (!applied.waits() || world.mutates(Mutation.TELL_SUCCESS_TOO_EARLY)) {
      reply.accept(new Response.Stable(leaderState.leadership.stable(), epoch()));
    } else {
      leaderState.waiters.add(new LeaderState.Waiter(commitTimestamp, reply));
    }
    answerWaiters();
    if (!unlogged.isEmpty() && leaderState.leadership.stable() >= commitTimestamp) {
      world.counts.add(Happening.SEEN_BEFORE_LOGGED);
    }
  }

  /** A message of a coordinator has come. */
  void receive(Request request, Consumer<Response> reply) {
    if (!node.isUp) {
      return;
    }
    if (request instanceof Request.Ask ask) {
      reply.accept(new Response.Known(replica.outcome(ask.transactionId())));
    } else if (request instanceof Request.Begin begin) {
      receiveBegin(begin, reply);
    } else if (leaderState == null || !leaderState.leadership.isServing()) {
      if (leaderState != null && isServedByMistake()) {
        world.checker.onVisible(this, startByMistake());
      }
      reply.accept(new Response.NotLeader());
    } else if (request instanceof Request.Renew renew) {
      List<Long> unlogged = leaderState.leadership.applied(renew.applied());
      if (world.mutates(Mutation.TAKE_UNHEARD_OF_FOR_LOGGED)) {
        unlogged = unlogged.stream().filter(replica::isPending).toList();
      }
      answerWaiters();
      long stable = start();
      boolean isOpen =
          leaderState.leases.renew(renew.session(), renew.oldestStart(), monotonicMillis());
      world.checker.onLowWatermark(this, leaderState.leases.oldestStart(stable));
      reply.accept(new Response.RenewedLease(isOpen, stable, epoch(), unlogged));
    } else if (request instanceof Request.Applied applied) {
      applied(applied, reply);
    } else if (request instanceof Request.DeclareInDoubt asked) {
      boolean isBehind = replica.inDoubt().epoch() < asked.need();
      reply.accept(
          isBehind ? new Response.NotLeader() : new Response.DeclareInDoubt(replica.inDoubt()));
    } else {
      Request.Execute asked = (Request.Execute) request;
      leaderState.queue.add(new Proposal.Item(asked.command(), asked.isToBeApplied(), reply));
    }
  }

  /**
   * As a linearizable read: the member leads when it is asked, and has applied what is committed
   * then before it answers. In between there may be a pause.
   */
  private void receiveBegin(Request.Begin begin, Consumer<Response> reply) {
    boolean isChecked = world.raft.holdsLease(node);
    if (!isChecked && leaderState != null) {
      world.counts.add(Happening.STARTS_WITHOUT_LEASE);
    }
    if (leaderState == null || !(isChecked || world.mutates(Mutation.SKIP_LEASE_CHECK))) {
      reply.accept(new Response.NotLeader());
      return;
    }
    LeaderState asked = leaderState;
    int readIndex = isChecked ? world.raft.committed() : 0;
    long pause = world.isFaulty && time.oneIn(10) ? time.below(20_000) : time.below(300);
    time.after(pause, () -> begin(asked, readIndex, begin, reply));
  }

  private void begin(
      LeaderState asked, int readIndex, Request.Begin begin, Consumer<Response> reply) {
    if (!node.isUp || leaderState != asked) {
      return;
    }
    if (applied < readIndex) {
      time.after(300, () -> begin(asked, readIndex, begin, reply));
      return;
    }
    boolean isServing = leaderState.leadership.isServing();
    if (isServing && !leaderState.leadership.isCaughtUp()) {
      world.counts.add(Happening.STARTS_BEFORE_CAUGHT_UP);
      if (!world.mutates(Mutation.SERVE_BEFORE_CAUGHT_UP)) {
        time.after(300, () -> begin(asked, readIndex, begin, reply));
        return;
      }
    }
    if (!isServing && leaderState.hasServed) {
      world.counts.add(Happening.STARTS_AFTER_THE_NEXT_LEADER);
    }
    if (isServing) {
      long start = start();
      world.checker.onStart(this, start, begin.seen());
      if (start > replica.stable()) {
        world.counts.add(Happening.STARTS_THAT_FOLLOW_THE_CLOCK);
      }
      reply.accept(new Response.Started(start, epoch()));
    } else if (isServedByMistake()) {
      long start = startByMistake();
      world.checker.onStart(this, start, begin.seen());
      reply.accept(new Response.Started(start, epoch()));
    } else {
      reply.accept(new Response.NotLeader());
    }
  }

  private boolean isServedByMistake() {
    return world.mutates(
        leaderState.hasServed
            ? Mutation.SERVE_AFTER_THE_NEXT_LEADER
            : Mutation.SERVE_BEFORE_FIRST_ENTRY);
  }

  private long startByMistake() {
    return replica.stable() < replica.last()
        ? replica.stable()
        : Math.max(replica.stable(), Math.min(clock(), replica.reservedUntil()) & ~1L);
  }

  /** Of what is in doubt below the snapshot that is told of. */
  long epoch() {
    return world.mutates(Mutation.TELL_AN_EARLIER_EPOCH) ? earlierEpoch : replica.inDoubt().epoch();
  }

  private long start() {
    long start = leaderState.leadership.startTimestamp(clock());
    world.checker.onVisible(this, start);
    return start;
  }

  void crash() {
    world.counts.add(Happening.MEMBER_CRASHES);
    time.remark("member", number, "crashes");
    node.isUp = false;
    node.leads = false;
    leaderState = null;
  }

  /** From its saved state; the log goes on from there. */
  void restart() {
    node.isUp = true;
    node.isIsolated = false;
    int before = applied;
    load(saved, savedAt);
    if (savedAt > 0) {
      world.counts.add(Happening.RESTARTS_FROM_SAVED_STATE);
    }
    if (world.mutates(Mutation.RESTART_WITH_A_GAP)) {
      applied = before;
    }
    time.remark("member", number, "restarts at", applied);
  }

  /** A member that is far behind gets the state of another instead of the log. */
  void takeStateOf(Member other) {
    if (leaderState == null && !node.leads && other.savedAt > applied) {
      world.counts.add(Happening.STATES_OF_OTHERS);
      int size = other.savedAt;
      List<RaftModel.Entry> log = other.node.log.subList(0, size);
      if (node.log.size() < size || !node.log.subList(0, size).equals(log)) {
        node.log.clear();
        node.log.addAll(log);
      }
      load(other.saved, size);
      node.known = Math.max(node.known, size);
      saved = other.saved;
      savedAt = size;
    }
  }

  private void load(byte[] state, int at) {
    replica = StateBytes.read(state);
    recent = new RecentCommits(replica.last());
    applied = at;
  }
}
