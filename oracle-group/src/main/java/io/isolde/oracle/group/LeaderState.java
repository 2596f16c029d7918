// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.replica.Command;
import io.isolde.oracle.replica.CoordinatorLeases;
import io.isolde.oracle.replica.Leadership;
import io.isolde.oracle.replica.LogEntry;
import io.isolde.oracle.replica.OracleReplica;
import io.isolde.oracle.replica.OverdueCommits;
import io.isolde.raft.group.PositionWaiters;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What a member knows because it leads; replaced with every term. Guarded by its host. */
final class LeaderState {
  /** Nobody waits for longer at a time until a timestamp is stable. */
  static final long MAX_WAIT_MILLIS = 1_000;

  private static final long NO_SESSION = 0;
  private static final long UNKNOWN_START = 0;

  /** Fencing is asked for again after this, if nothing came of it. */
  private static final long FENCE_AGAIN_MILLIS = 1_000;

  private static final long NOT_YET = -1;

  /**
   * In this part of their lease, a bit more than between two renewals, coordinators that live tell
   * a new leader what is applied.
   */
  private static final int CATCH_UP_PARTS = 8;

  final long term;
  final Leadership leadership;
  final CoordinatorLeases leases;

  /** For timestamps to become stable. */
  final PositionWaiters<Request> waiters;

  private final OverdueCommits overdue;
  private final long catchUpMillis;

  /** When it looked first whether it has settled. */
  private long servingSinceMillis = NOT_YET;

  /** When the log was asked to fence a session. */
  private final Map<Long, Long> fencedAtMillis = new HashMap<>();

  /** Made once, and proposed until the log takes it. */
  LogEntry first;

  boolean isFirstUnderWay;

  /**
   * @param leaseMillis of coordinators, who renew it {@link CoordinatorSession#RENEWALS_PER_LEASE}
   *     times
   * @param overdueMillis how long a commit may take to be applied
   */
  LeaderState(
      long term,
      Leadership leadership,
      CoordinatorLeases leases,
      long leaseMillis,
      long overdueMillis,
      PositionWaiters<Request> waiters,
      long nowMillis) {
    this.term = term;
    this.leadership = leadership;
    this.leases = leases;
    this.overdue = new OverdueCommits(overdueMillis, nowMillis);
    this.catchUpMillis = leaseMillis / CATCH_UP_PARTS;
    this.waiters = waiters;
  }

  boolean isServing() {
    return leadership.isServing();
  }

  /** Who commits, lives, also when its renewals wait behind its commits. */
  void hearOf(List<Command> commands, long nowMillis) {
    long last = NO_SESSION;
    for (Command command : commands) {
      if (command instanceof Command.Commit commit && commit.session() != last) {
        last = commit.session();
        leases.renew(last, UNKNOWN_START, nowMillis);
      }
    }
  }

  /** Sessions may have been opened or fenced. */
  void followSessions(List<Long> open, long nowMillis) {
    leases.follow(open, nowMillis);
    fencedAtMillis.keySet().retainAll(open);
  }

  /**
   * What the leader does by itself: fences those whose lease is over, declares in doubt what takes
   * long to apply, and reserves timestamps.
   */
  List<Command> tasks(OracleReplica replica, boolean isInUse, long nowMicros, long nowMillis) {
    List<Command> tasks = new ArrayList<>(0);
    for (long session : leases.expired(nowMillis)) {
      if (isToBeFenced(session, nowMillis)) {
        tasks.add(new Command.FenceSession(session));
      }
    }
    hastenOverdue(nowMillis);
    for (long commit : overdue.due(replica, nowMillis)) {
      if (leadership.isHolding(commit)) {
        tasks.add(new Command.DeclareInDoubt(commit));
      }
    }
    leadership.unreported().ifPresent(tasks::add);
    if (isInUse && tasks.isEmpty() && leadership.needsReservation(nowMicros)) {
      tasks.add(new Command.IssueTimestamp(0));
    }
    return tasks;
  }

  /** What nobody has told by now is not waited for any longer. */
  private void hastenOverdue(long nowMillis) {
    servingSinceMillis = servingSinceMillis == NOT_YET ? nowMillis : servingSinceMillis;
    if (!leadership.isCaughtUp() && nowMillis - servingSinceMillis >= catchUpMillis) {
      overdue.hasten(leadership.caughtUpAt());
    }
  }

  private boolean isToBeFenced(long session, long nowMillis) {
    Long asked = fencedAtMillis.get(session);
    boolean isDue = asked == null || nowMillis - asked >= FENCE_AGAIN_MILLIS;
    if (isDue) {
      fencedAtMillis.put(session, nowMillis);
    }
    return isDue;
  }

  /** Whether its first entry is to be proposed. */
  boolean isToBegin() {
    return leadership.phase() == Leadership.Phase.STARTING && !isFirstUnderWay;
  }
}
