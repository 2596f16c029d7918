// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.LogEntry;
import io.isolde.oracle.replica.RecentChanges;
import io.isolde.raft.Daemons;
import io.isolde.raft.GroupFailure;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
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

  private static final int MAX_WAITING = 100_000;
  private static final int MAX_WATCHED_IDS = 1 << 20;

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
  public record Notification(List<Long> commits, long position, boolean isLost) {}

  private final ScheduledThreadPoolExecutor thread =
      new ScheduledThreadPoolExecutor(1, Daemons.named("isolde-oracle-watch"));

  private final VisibilityQuestions questions;

  /** This and all that follows is guarded by this. */
  private RecentChanges recent = new RecentChanges(0);

  private final Set<WaitingWatch> waiters = new LinkedHashSet<>();
  private final Map<Long, Set<WaitingWatch>> byId = new HashMap<>();
  private int watchedIds;

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
    thread.setRemoveOnCancelPolicy(true);
    questions = new VisibilityQuestions(leader, this::visible, thread);
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
      if (waiters.size() >= MAX_WAITING || watchedIds + ids.size() > MAX_WATCHED_IDS) {
        return CompletableFuture.failedFuture(
            new GroupFailure(
                GroupFailure.Reason.OVERLOADED,
                "%d watches of %d rows wait on this node, which are as many as may."
                    .formatted(waiters.size(), watchedIds)));
      }
      waiter.timeout = thread.schedule(() -> timeOut(waiter), waitMillis, TimeUnit.MILLISECONDS);
      add(waiter);
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

  private void add(WaitingWatch waiter) {
    waiters.add(waiter);
    watchedIds += waiter.ids.size();
    waiter.ids.forEach(id -> byId.computeIfAbsent(id, key -> new HashSet<>(2)).add(waiter));
  }

  private synchronized void remove(WaitingWatch waiter) {
    if (!waiters.remove(waiter)) {
      return;
    }
    watchedIds -= waiter.ids.size();
    for (long id : waiter.ids) {
      byId.computeIfPresent(
          id,
          (key, watching) -> {
            watching.remove(waiter);
            return watching.isEmpty() ? null : watching;
          });
    }
    waiter.timeout.cancel(false);
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
        .filter(change -> Arrays.stream(change.ids()).anyMatch(byId::containsKey))
        .mapToLong(RecentChanges.Change::commitTimestamp)
        .max()
        .ifPresent(questions::want);
  }

  /** The replica got another state: what was decided meanwhile is not known here. */
  void restored(long last) {
    synchronized (this) {
      recent = new RecentChanges(last);
    }
    fail();
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
      woken = watching(changes);
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
        waiters.stream().filter(waiter -> waiter.after < recent.coversFrom()).toList();
    losing.forEach(waiter -> waiter.commits.clear());
    lost += losing.size();
    return losing;
  }

  private Set<WaitingWatch> watching(List<RecentChanges.Change> changes) {
    Set<WaitingWatch> woken = new LinkedHashSet<>();
    for (RecentChanges.Change change : changes) {
      for (long id : change.ids()) {
        for (WaitingWatch waiter : byId.getOrDefault(id, Set.of())) {
          if (change.commitTimestamp() > waiter.after) {
            waiter.add(change.commitTimestamp());
            woken.add(waiter);
          }
        }
      }
    }
    woken.forEach(waiter -> notified += waiter.commits.size());
    return woken;
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
  void follows(boolean hasLeader, long nowNanos) {
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
      all = List.copyOf(waiters);
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
