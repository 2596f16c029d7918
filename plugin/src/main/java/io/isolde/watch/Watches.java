// SPDX-License-Identifier: Apache-2.0
package io.isolde.watch;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.group.Changes;
import io.isolde.peers.Peers;
import io.isolde.raft.Daemons;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.Peer;
import io.isolde.raft.transport.ApplicationHandler;
import io.isolde.raft.transport.NodeConnections;
import io.isolde.raft.transport.PeerConnection;
import io.isolde.replicated.OracleHost;
import io.isolde.transaction.barrier.TableBarrier;
import io.isolde.version.NodeVersions;
import io.isolde.version.VersionIndex;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;

/** Answers the watches of this node's clients, and those of nodes that are no members. */
public final class Watches {
  private static final byte SERVICE = Peers.Service.WATCHES.number();

  /** Of one watch. */
  public static final int MAX_IDS = 1_024;

  /** On this node, wherever they are asked. */
  private static final int MAX_WATCHES = 100_000;

  /** A member may have just started, or have lost its leader. */
  private static final long PATIENCE_MILLIS = 2_000;

  private static final long MIN_PAUSE_MILLIS = 100;
  private static final long MAX_PAUSE_MILLIS = 400;

  /** Another node's connection counts as silent after a second without an answer. */
  private static final int MAX_WAIT_THERE_MILLIS = 500;

  /** A member that is later than this hangs. */
  private static final int MAX_LATE_MILLIS = 1_000;

  private final Supplier<Optional<OracleHost>> host;
  private final TableBarrier barrier;
  private final NodeConnections connections;
  private final AtomicInteger count = new AtomicInteger();

  /** The watches that wait, by table: they hear what becomes of it. */
  private final Map<TableId, Set<Watch>> waiting = new ConcurrentHashMap<>();

  /** Asks again, and asks for other nodes; nothing waits on it. */
  private final ScheduledThreadPoolExecutor thread =
      new ScheduledThreadPoolExecutor(1, Daemons.named("isolde-watch"));

  /**
   * Makes it; members are asked from {@link #serve} on.
   *
   * @param host empty until the oracle's part of this node has started
   * @param barrier that is closed while tables lose what no commit reports
   */
  public Watches(Supplier<Optional<OracleHost>> host, TableBarrier barrier) {
    this.host = host;
    this.barrier = barrier;
    this.connections =
        new NodeConnections(
            (address, onClosed) -> host.get().orElseThrow().transport().connect(address, onClosed));
  }

  /** Answers other nodes from now on, and hears of tables that begin anew. */
  public void serve() {
    host.get().ifPresent(node -> node.transport().serve(SERVICE, new Member()));
    NodeVersions.ofThisNode()
        .listen(table -> waiting.getOrDefault(table, Set.of()).forEach(Watch::lookAtTable));
  }

  /**
   * Asks for the changes after a timestamp of at least one of some ids. Fails with an {@link
   * IsoldeException}: TOO_MANY_WATCHES, ORACLE_UNAVAILABLE if no member can tell, or
   * NOT_TRANSACTIONAL if the table is that no more. Does not throw.
   *
   * @param table the ids are of its rows; empty if they are of the configuration
   * @param after empty for those from now on
   * @param waitMillis after so long it tells that there are none
   */
  public CompletableFuture<Changes.Notification> ask(
      Optional<VersionIndex> table, OptionalLong after, Set<Long> ids, long waitMillis) {
    if (count.incrementAndGet() > MAX_WATCHES) {
      count.decrementAndGet();
      return CompletableFuture.failedFuture(
          tooMany(MAX_WATCHES + " watches wait on this node, which are as many as may."));
    }
    Watch watch = new Watch(table, after, ids, waitMillis);
    table.ifPresent(
        of ->
            waiting
                .computeIfAbsent(of.table().id, key -> ConcurrentHashMap.newKeySet())
                .add(watch));
    var unused = watch.answer.whenComplete((notification, failure) -> ended(watch));
    try {
      watch.start();
    } catch (RuntimeException | Error e) {
      watch.answer.completeExceptionally(e);
    }
    return watch.answer;
  }

  private void ended(Watch watch) {
    count.decrementAndGet();
    watch.asked.cancel(false); // If the one who asked does not want the answer any more.
    // The empty set stays: one for each table.
    watch.table.ifPresent(of -> waiting.get(of.table().id).remove(watch));
  }

  private static IsoldeException tooMany(String sentence) {
    return IsoldeException.of(
        ErrorCode.TOO_MANY_WATCHES,
        sentence + " Ask another node, or later, after the same timestamp.");
  }

  /** One question of a client, on its way from one member to the next. */
  private final class Watch {
    private final Optional<VersionIndex> table;
    private final Set<Long> ids;
    private final long startNanos = System.nanoTime();
    private final long waitMillis;
    private final CompletableFuture<Changes.Notification> answer = new CompletableFuture<>();

    /** Those to try, the next one at the end; touched by one thread at a time. */
    private final List<Peer> members = new ArrayList<>();

    private boolean areMembersKnown;
    private boolean isHereTried;
    private boolean isFull;

    /** A member does not know enough; another one may. Null if all that answered did. */
    private Changes.Notification lost;

    private long pauseMillis = MIN_PAUSE_MILLIS;

    /** Since when nobody answers; 0 if somebody did. */
    private long failingSinceNanos;

    private volatile OptionalLong after;
    private volatile CompletableFuture<Changes.Notification> asked = new CompletableFuture<>();

    Watch(Optional<VersionIndex> table, OptionalLong after, Set<Long> ids, long waitMillis) {
      this.table = table;
      this.after = after;
      this.ids = ids;
      this.waitMillis = waitMillis;
    }

    private long leftMillis() {
      return Math.max(0, waitMillis - millisSince(startNanos));
    }

    /** Without a position there is nothing to go on from on another member. */
    private long nextMillis() {
      return after.isEmpty() ? 0 : leftMillis();
    }

    void start() {
      isHereTried = false;
      areMembersKnown = false;
      members.clear();
      askNext();
    }

    /** Seldom needed: a member mostly answers itself. */
    private void findMembers() {
      areMembersKnown = true;
      host.get()
          .ifPresent(
              node ->
                  node.client().members().stream()
                      .filter(peer -> !peer.id().equals(node.address()))
                      .forEach(members::add));
      Collections.shuffle(members);
    }

    private void askNext() {
      Optional<Changes> here = host.get().flatMap(node -> node.node().changes());
      if (!isHereTried && here.isPresent()) {
        isHereTried = true;
        follow(here.get().after(after, ids, nextMillis()), false);
        return;
      }
      if (!areMembersKnown) {
        findMembers();
      }
      if (members.isEmpty()) {
        tryAgain();
      } else {
        askThere(members.get(members.size() - 1));
      }
    }

    private void tryAgain() {
      failingSinceNanos = failingSinceNanos == 0 ? System.nanoTime() : failingSinceNanos;
      if (lost != null) {
        answer.complete(lost);
      } else if (isFull) {
        answer.completeExceptionally(tooMany("The members have as many watches as they may."));
      } else if (millisSince(failingSinceNanos) < PATIENCE_MILLIS) {
        long jitter = ThreadLocalRandom.current().nextLong(pauseMillis);
        var unused = thread.schedule(this::startAgain, pauseMillis + jitter, TimeUnit.MILLISECONDS);
        pauseMillis = Math.min(2 * pauseMillis, MAX_PAUSE_MILLIS);
      } else {
        answer.completeExceptionally(
            IsoldeException.of(
                ErrorCode.ORACLE_UNAVAILABLE,
                "No member of the oracle can tell of changes now. Ask again, after the same"
                    + " timestamp; nothing is missed."));
      }
    }

    private void startAgain() {
      try {
        start();
      } catch (RuntimeException | Error e) {
        answer.completeExceptionally(e);
      }
    }

    private void askThere(Peer member) {
      int millis = (int) Math.min(nextMillis(), MAX_WAIT_THERE_MILLIS);
      follow(
          connections
              .request(
                  member.address(),
                  SERVICE,
                  WatchMessages.of(new WatchMessages.Question(after, ids, millis)),
                  WatchMessages::notification)
              .orTimeout(millis + MAX_LATE_MILLIS, TimeUnit.MILLISECONDS),
          true);
    }

    private void follow(CompletableFuture<Changes.Notification> next, boolean isThere) {
      asked = next;
      lookAtTable();
      if (answer.isDone()) {
        next.cancel(false);
        return;
      }
      var unused =
          next.whenComplete(
              (notification, failure) -> {
                if (!answer.isDone()) {
                  heard(notification, failure, isThere);
                }
              });
    }

    private void heard(Changes.Notification notification, Throwable failure, boolean isThere) {
      try {
        if (failure == null && !notification.isLost()) {
          heard(notification);
        } else {
          lost = failure == null ? notification : lost;
          isFull |= failure != null && isOverloaded(failure);
          if (isThere) {
            members.remove(members.size() - 1);
          }
          askNext();
        }
      } catch (RuntimeException | Error e) {
        answer.completeExceptionally(e);
      }
    }

    private static boolean isOverloaded(Throwable failure) {
      return GroupFailure.of(failure).reason() == GroupFailure.Reason.OVERLOADED;
    }

    /**
     * While the table is closed, its new beginning may be below a position and not known here yet.
     * The table opens when all nodes know it. So it is looked at first, and then the beginning.
     */
    private void heard(Changes.Notification heard) {
      boolean isClosed = table.isPresent() && barrier.isClosed(table.get().table().id);
      lookAtTable();
      Changes.Notification notification =
          isClosed && after.isPresent() ? heard.withoutProgress(after.getAsLong()) : heard;
      if (notification.commits().isEmpty() && leftMillis() > 0) {
        after = OptionalLong.of(notification.position());
        failingSinceNanos = 0;
        pauseMillis = MIN_PAUSE_MILLIS;
        isFull = false;
        lost = null;
        isHereTried = false;
        askNext();
      } else {
        answer.complete(notification);
      }
    }

    /**
     * Ends the watch if the table has lost what no commit reports. All that was committed to it up
     * to its new beginning, was so before.
     */
    void lookAtTable() {
      table.ifPresent(this::lookAt);
    }

    private void lookAt(VersionIndex before) {
      VersionIndex now = NodeVersions.ofThisNode().of(before.table().id);
      long begun = now == null ? 0 : now.begunAnewAt();
      if (now == null) {
        end(() -> answer.completeExceptionally(notTransactional(before.table())));
      } else if (after.isPresent() && after.getAsLong() < begun) {
        end(() -> answer.complete(new Changes.Notification(List.of(), begun, true)));
      }
    }

    private static IsoldeException notTransactional(TableMetadata table) {
      return IsoldeException.of(
          ErrorCode.NOT_TRANSACTIONAL,
          "The table " + table + " is not transactional any more, or was dropped.",
          "table",
          table);
    }

    private void end(Supplier<Boolean> ending) {
      if (ending.get()) {
        asked.cancel(false);
      }
    }
  }

  private static long millisSince(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
  }

  /** Answers nodes that are no members. */
  private final class Member implements ApplicationHandler {
    @Override
    public void onRequest(PeerConnection from, byte service, long requestId, ByteBuf body) {
      try {
        WatchMessages.Question question = WatchMessages.question(body);
        // Not on an event loop: there may be much to look through.
        thread.execute(() -> tryToAnswer(question, from, requestId));
      } catch (RuntimeException e) {
        from.fail(requestId, "The watch can't be answered: " + e.getMessage());
      } finally {
        body.release();
      }
    }

    private void tryToAnswer(WatchMessages.Question question, PeerConnection from, long requestId) {
      try {
        answer(question, from, requestId);
      } catch (RuntimeException e) {
        from.fail(requestId, "The watch can't be answered: " + e);
      }
    }

    private void answer(WatchMessages.Question question, PeerConnection from, long requestId) {
      var unused =
          host.get()
              .flatMap(node -> node.node().changes())
              .map(here -> here.after(question.after(), question.ids(), question.waitMillis()))
              .orElseGet(
                  () -> CompletableFuture.failedFuture(GroupFailure.notLeader(Optional.empty())))
              .whenComplete(
                  (notification, failure) ->
                      from.respond(
                          requestId,
                          failure == null
                              ? WatchMessages.of(notification)
                              : WatchMessages.of(GroupFailure.of(failure))));
    }
  }
}
