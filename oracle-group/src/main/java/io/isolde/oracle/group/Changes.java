// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.LogEntry;
import io.isolde.oracle.replica.RecentChanges;
import io.isolde.raft.Daemons;
import io.isolde.raft.GroupFailure;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;

/**
 * Notifies those who watch of the commits that have changed it, on any member. A watch is one
 * question: it is answered as soon as there is a change, or when it has waited for long enough.
 * Nothing is kept for a watcher between two questions, so the next one may go to another member:
 * all have the same commits in the same order.
 *
 * <p>Thread-safe. Called by the thread that applies the log, so nobody is answered there.
 */
public final class Changes implements AutoCloseable {
  /** Of one answer; the next question gets the others. */
  static final int MAX_NOTIFIED = 1_000;

  /** If more are not visible yet, the log has much to say, and soon says what is. */
  private static final int MAX_LOOKED_AT = 64;

  /** A member that has no leader for so long may be cut off, and others see more. */
  private static final long LEADERLESS_NANOS = TimeUnit.SECONDS.toNanos(1);

  /**
   * What a watcher is notified of.
   *
   * @param commits timestamps of the commits that have changed what is watched, in their order
   * @param position all up to here is reported: what to ask after next
   * @param isLost whether there may have been changes that are not known any more; then there are
   *     no commits, and what is watched is to be read at or after the position
   */
  public record Notification(List<Long> commits, long position, boolean isLost) {
    /**
     * The same, but not further than its last commit.
     *
     * @param after what was asked after
     */
    public Notification withoutProgress(long after) {
      return new Notification(
          commits, commits.isEmpty() ? after : commits.get(commits.size() - 1), false);
    }
  }

  private final ScheduledExecutorService thread;
  private final VisibilityQuestions questions;
  private final LongFunction<RecentChanges> memory;

  /** This and all that follows is guarded by this. */
  private RecentChanges recent;

  private final WaitingWatches waiters = new WaitingWatches();

  /** Then the leader is asked when commits become visible for which somebody waits. */
  private boolean isFollowing;

  private long leaderlessSinceNanos;
  private boolean isLeaderless;
  private boolean isClosed;
  private long notified;
  private long lost;

  /**
   * Notifies nobody yet.
   *
   * @param leader answers when all commits up to a timestamp are visible
   */
  Changes(LongFunction<CompletableFuture<Long>> leader) {
    this(leader, Daemons.timer("isolde-oracle-watch"), RecentChanges::new);
  }

  private Changes(
      LongFunction<CompletableFuture<Long>> leader,
      ScheduledExecutorService thread,
      LongFunction<RecentChanges> memory) {
    this.thread = thread;
    this.memory = memory;
    questions = new VisibilityQuestions(leader, this::visible, thread);
    recent = memory.apply(0);
  }

  /**
   * Of a log other than the oracle's, of which all is visible as soon as it is {@linkplain #written
   * applied}. Nobody can ask before it is {@linkplain #begun begun}.
   *
   * @param thread see {@link Daemons#timer}; others may use it, too, and who made it closes it
   * @param maxWrites the last ones, that are kept
   * @param maxIds of these, in all
   * @param account hears of what is kept, under the lock of this
   */
  public static Changes ofLog(
      ScheduledExecutorService thread, int maxWrites, int maxIds, RecentChanges.Account account) {
    Changes changes =
        new Changes(
            timestamp -> CompletableFuture.failedFuture(notHere()),
            thread,
            last -> new RecentChanges(last, maxWrites, maxIds, account));
    changes.ended();
    return changes;
  }

  /** What comes next in the log has a timestamp above this one. What was before is not known. */
  public void begun(long last) {
    restored(last);
    visible(last);
  }

  /** The next write of the log was applied, and can be read. */
  public void written(long timestamp, long[] ids) {
    synchronized (this) {
      recent.add(new RecentChanges.Change(timestamp, ids));
    }
    visible(timestamp);
  }

  /** Until it is begun again, others have to be asked. */
  public void ended() {
    restored(Long.MAX_VALUE);
  }

  /**
   * Asks for the commits after a timestamp that have changed at least one of some ids. Cancel the
   * answer if it is not wanted any more. It fails with a {@link GroupFailure}: {@code OVERLOADED}
   * if too many wait, and {@code NOT_LEADER} if this member can't tell and another one may.
   *
   * @param after empty for those from now on
   * @param waitMillis after so long it tells that there are none
   */
  public CompletableFuture<Notification> after(OptionalLong after, Set<Long> ids, long waitMillis) {
    List<RecentChanges.Change> before;
    long from;
    long upTo;
    synchronized (this) {
      if (isClosed || !recent.isReady() || isCutOff(System.nanoTime())) {
        return CompletableFuture.failedFuture(notHere());
      }
      upTo = recent.position();
      from = after.orElse(upTo);
      if (from < recent.coversFrom()) {
        lost++;
        return CompletableFuture.completedFuture(new Notification(List.of(), upTo, true));
      }
      before = recent.after(from);
    }
    // Not under the lock, for which the log waits: these may be many.
    List<Long> commits = RecentChanges.matching(before, ids, MAX_NOTIFIED);
    if (!commits.isEmpty() || waitMillis <= 0) {
      countNotified(commits.size());
      return CompletableFuture.completedFuture(notification(commits, Math.max(from, upTo)));
    }
    return await(Math.max(from, upTo), ids, waitMillis);
  }

  /**
   * The last commit after a timestamp that has changed one of some ids, visible or not; 0 if there
   * is none, or this member does not know: after a start, or if that is too long ago.
   */
  public long lastChange(long after, Set<Long> ids) {
    List<RecentChanges.Change> since;
    synchronized (this) {
      if (isClosed || !recent.isReady() || after < recent.coversFrom()) {
        return 0;
      }
      since = recent.newestAfter(after);
    }
    List<Long> newest = RecentChanges.matching(since, ids, 1);
    return newest.isEmpty() ? 0 : newest.get(0);
  }

  /** Waits for what comes after a timestamp, up to which there is nothing. */
  private CompletableFuture<Notification> await(long from, Set<Long> ids, long waitMillis) {
    WaitingWatch waiter = new WaitingWatch(from, ids);
    synchronized (this) {
      if (isClosed || from < recent.coversFrom()) {
        return CompletableFuture.failedFuture(notHere()); // Meanwhile; it can be asked again.
      }
      List<Long> commits = RecentChanges.matching(recent.after(from), ids, MAX_NOTIFIED);
      if (!commits.isEmpty()) {
        notified += commits.size();
        return CompletableFuture.completedFuture(
            notification(commits, Math.max(from, recent.position())));
      }
      if (!waiters.hasRoomFor(waiter)) {
        return GroupFailure.future(
            GroupFailure.Reason.OVERLOADED,
            "%s wait on this node, which are as many as may.".formatted(waiters));
      }
      waiter.timeout = thread.schedule(() -> timeOut(waiter), waitMillis, TimeUnit.MILLISECONDS);
      waiters.add(waiter);
      if (isFollowing) {
        RecentChanges.matching(recent.newestDecided(MAX_LOOKED_AT), ids, 1)
            .forEach(questions::want);
      }
    }
    var unused = waiter.answer.whenComplete((done, failure) -> remove(waiter));
    return waiter.answer;
  }

  private synchronized void countNotified(int commits) {
    notified += commits;
  }

  static Notification notification(List<Long> commits, long position) {
    boolean isMore = commits.size() == MAX_NOTIFIED;
    return new Notification(commits, isMore ? commits.get(MAX_NOTIFIED - 1) : position, false);
  }

  private synchronized void remove(WaitingWatch waiter) {
    waiters.remove(waiter);
  }

  private void timeOut(WaitingWatch waiter) {
    Notification nothing;
    synchronized (this) {
      if (!waiters.contains(waiter)) {
        return; // Somebody else is about to answer it.
      }
      nothing = waiter.notification(recent.position());
      remove(waiter);
    }
    waiter.answer.complete(nothing);
  }

  /**
   * An entry was applied, the next one of the log; called before anybody hears what is visible.
   *
   * @param isLeading whether this member hears itself what becomes visible
   */
  synchronized void applied(
      LogEntry entry,
      List<Answer> answers,
      List<RecentChanges.Change> ofConfiguration,
      boolean isLeading) {
    List<RecentChanges.Change> applied = recent.applied(entry, answers, ofConfiguration);
    if (!isLeading && !waiters.isEmpty()) {
      // A member that leads no more has asked for nothing.
      wantWatched(isFollowing ? applied : recent.newestDecided(MAX_LOOKED_AT));
    }
    isFollowing = !isLeading;
  }

  /** What nobody asks for, the log tells later. */
  private void wantWatched(List<RecentChanges.Change> changes) {
    changes.stream()
        .filter(change -> Arrays.stream(change.ids()).anyMatch(waiters::areOf))
        .mapToLong(RecentChanges.Change::commitTimestamp)
        .max()
        .ifPresent(questions::want);
  }

  /** The replica got another state: what was decided meanwhile is not known here. */
  void restored(long last) {
    synchronized (this) {
      recent.discard();
      recent = memory.apply(last);
    }
    fail();
  }

  /** The oldest change that is kept and visible; empty if there is none. */
  public synchronized OptionalLong oldest() {
    return recent.oldest();
  }

  /** As {@link RecentChanges#forgetOldest}. Who asks after something older has lost it. */
  public synchronized void forgetOldest(int most, long upTo) {
    recent.forgetOldest(most, upTo);
  }

  /** All commits up to a timestamp are visible. */
  void visible(long upTo) {
    Set<WaitingWatch> woken;
    long position;
    synchronized (this) {
      long before = recent.position();
      List<RecentChanges.Change> changes = recent.visible(upTo);
      position = recent.position();
      if (waiters.isEmpty() || position == before) {
        return;
      }
      woken = waiters.watching(changes);
      woken.forEach(waiter -> notified += waiter.commits.size());
      if (recent.coversFrom() > before) {
        woken.addAll(losing());
      }
      woken.forEach(this::remove);
    }
    answerAll(woken, position);
  }

  /** Those that may have missed something which is not kept any more. */
  private List<WaitingWatch> losing() {
    List<WaitingWatch> losing =
        waiters.all().stream().filter(waiter -> waiter.after < recent.coversFrom()).toList();
    losing.forEach(waiter -> waiter.commits.clear());
    lost += losing.size();
    return losing;
  }

  /** Not here: there may be thousands. */
  private void answerAll(Set<WaitingWatch> woken, long position) {
    if (woken.isEmpty()) {
      return;
    }
    try {
      thread.execute(
          () ->
              woken.forEach(
                  waiter ->
                      waiter.answer.complete(
                          waiter.commits.isEmpty()
                              ? new Notification(List.of(), Math.max(waiter.after, position), true)
                              : waiter.notification(position))));
    } catch (RejectedExecutionException e) {
      woken.forEach(waiter -> waiter.answer.completeExceptionally(notHere()));
    }
  }

  private static GroupFailure notHere() {
    return GroupFailure.notLeader(Optional.empty());
  }

  /** Whether this member knows of a leader; to be called several times a second. */
  public void follows(boolean hasLeader, long nowNanos) {
    synchronized (this) {
      if (!hasLeader && !isLeaderless) {
        leaderlessSinceNanos = nowNanos;
      }
      isLeaderless = !hasLeader;
      if (!isCutOff(nowNanos)) {
        return;
      }
    }
    fail();
  }

  private boolean isCutOff(long nowNanos) {
    return isLeaderless && nowNanos - leaderlessSinceNanos >= LEADERLESS_NANOS;
  }

  /** Others may know more, so nobody goes on waiting here. */
  private void fail() {
    List<WaitingWatch> all;
    synchronized (this) {
      all = waiters.all();
      all.forEach(this::remove);
    }
    if (all.isEmpty()) {
      return;
    }
    Runnable failing = () -> all.forEach(waiter -> waiter.answer.completeExceptionally(notHere()));
    try {
      thread.execute(failing);
    } catch (RejectedExecutionException e) {
      failing.run(); // It is being closed, so nobody waits for this thread.
    }
  }

  /** How many watches wait here. */
  public synchronized int waiting() {
    return waiters.size();
  }

  /** Of how many changes watchers were notified. */
  public synchronized long notified() {
    return notified;
  }

  /** In which the last changes are kept, about. */
  public synchronized long bytes() {
    return recent.bytes();
  }

  /** How often changes may be missing that are not known any more. */
  public synchronized long lost() {
    return lost;
  }

  @Override
  public void close() {
    synchronized (this) {
      isClosed = true;
    }
    fail();
    thread.shutdown();
  }
}
