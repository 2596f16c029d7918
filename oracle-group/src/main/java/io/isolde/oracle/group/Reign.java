// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.replica.Command;
import io.isolde.oracle.replica.CoordinatorLeases;
import io.isolde.oracle.replica.Leadership;
import io.isolde.oracle.replica.LogEntry;
import io.isolde.oracle.replica.OracleReplica;
import io.isolde.oracle.replica.OverdueCommits;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What a member knows because it leads; replaced with every term. Guarded by its host. */
final class Reign {
  private static final long NO_SESSION = 0;
  private static final long NOTHING_TOLD = 0;

  /** Fencing is asked for again after this, if nothing came of it. */
  private static final long FENCE_AGAIN_MILLIS = 1_000;

  private static final long NOT_YET = -1;

  /**
   * In this part of their lease, a bit more than between two renewals, coordinators that live tell
   * a new leader what is applied.
   */
  private static final int SETTLE_PARTS = 8;

  final long term;
  final Leadership leadership;
  final CoordinatorLeases leases;
  final StableWaiters waiters;
  private final OverdueCommits overdue;
  private final long settleMillis;

  /** When it looked first whether it has settled. */
  private long servingSinceMillis = NOT_YET;

  /** When the log was asked to fence a session. */
  private final Map<Long, Long> fencedAtMillis = new HashMap<>();

  /** Made once, and proposed until the log takes it. */
  LogEntry first;

  boolean isFirstUnderWay;

  /** The replica was replaced under it. */
  boolean isOver;

  /**
   * @param leaseMillis of coordinators, who renew it {@link CoordinatorSession#RENEWALS_PER_LEASE}
   *     times
   * @param overdueMillis how long a commit may take to be applied
   */
  Reign(
      long term,
      Leadership leadership,
      CoordinatorLeases leases,
      long leaseMillis,
      long overdueMillis,
      StableWaiters waiters,
      long nowMillis) {
    this.term = term;
    this.leadership = leadership;
    this.leases = leases;
    this.overdue = new OverdueCommits(overdueMillis, nowMillis);
    this.settleMillis = leaseMillis / SETTLE_PARTS;
    this.waiters = waiters;
  }

  boolean isServing() {
    return !isOver && leadership.isServing();
  }

  /** Who commits, lives, also when its renewals wait behind its commits. */
  void hearOf(List<Command> commands, long nowMillis) {
    long last = NO_SESSION;
    for (Command command : commands) {
      if (command instanceof Command.Commit commit && commit.session() != last) {
        last = commit.session();
        leases.renew(last, NOTHING_TOLD, nowMillis);
      }
    }
  }

  /** Sessions may have been opened or fenced. */
  void followSessions(List<Long> open, long nowMillis) {
    leases.follow(open, nowMillis);
    fencedAtMillis.keySet().retainAll(open);
  }

  /**
   * What the leader does by itself: fences those whose lease is over, sets aside what takes long to
   * apply, and reserves timestamps.
   */
  List<Command> duties(OracleReplica replica, boolean isInUse, long nowMicros, long nowMillis) {
    List<Command> duties = new ArrayList<>(0);
    for (long session : leases.expired(nowMillis)) {
      if (isToBeFenced(session, nowMillis)) {
        duties.add(new Command.FenceSession(session));
      }
    }
    settle(nowMillis);
    for (long commit : overdue.due(replica, nowMillis)) {
      if (leadership.isHolding(commit)) {
        duties.add(new Command.SetAside(commit));
      }
    }
    leadership.news().ifPresent(duties::add);
    if (isInUse && duties.isEmpty() && leadership.needsReservation(nowMicros)) {
      duties.add(new Command.IssueTimestamp(0));
    }
    return duties;
  }

  /** What nobody has told by now is not waited for any longer. */
  private void settle(long nowMillis) {
    servingSinceMillis = servingSinceMillis == NOT_YET ? nowMillis : servingSinceMillis;
    if (!leadership.isSettled() && nowMillis - servingSinceMillis >= settleMillis) {
      overdue.hasten(leadership.settlesAt());
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
}
