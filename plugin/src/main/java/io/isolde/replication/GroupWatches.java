// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.group.GroupClient;
import io.isolde.group.ReplicaGroup;
import io.isolde.oracle.group.Changes;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.Peer;
import io.isolde.transaction.barrier.TableBarrier;
import io.isolde.version.DroppedColumns;
import io.isolde.version.NodeVersions;
import io.isolde.version.VersionIndex;
import io.isolde.watch.WatchMessages;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.apache.cassandra.db.PartitionRangeReadCommand;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;

/**
 * Answers watches of tables of strong keyspaces that are not transactional. The order of writes is
 * that of one group's log, so a watch is of what one group has. A replica on this node answers if
 * it keeps up, else the leader does: over the way that reads take, and after their barrier. What it
 * has forgotten, the other members are asked for.
 */
public final class GroupWatches {
  /** On this node, of its clients. */
  private static final int MAX_WATCHES = 100_000;

  /** Asked again so often, it hears of what has become of its table. */
  private static final long MAX_WAIT_HERE_MILLIS = 5_000;

  /** Below what an attempt to reach a leader may take. */
  private static final long MAX_WAIT_AT_LEADER_MILLIS = 500;

  /**
   * A member that lags has time to go on, so that it is not asked without pause. Below what its
   * answer may take.
   */
  private static final long MAX_WAIT_AT_MEMBER_MILLIS = 100;

  /** In the place of the version of the protocol with which a read starts. */
  private static final int QUESTION = -3;

  private final StrongKeyspaces keyspaces;
  private final TableBarrier barrier;
  private final AtomicInteger count = new AtomicInteger();

  /**
   * Makes it.
   *
   * @param barrier that is closed while tables lose what no write reports
   */
  public GroupWatches(StrongKeyspaces keyspaces, TableBarrier barrier) {
    this.keyspaces = keyspaces;
    this.barrier = barrier;
  }

  /**
   * The number of the group that has all that a query reads; empty if the keyspace is not a strong
   * one, or if there are several.
   */
  public OptionalInt groupOf(ReadQuery query) {
    String name = query.metadata().keyspace;
    if (!keyspaces.isMeant(name)) {
      return OptionalInt.empty();
    }
    StrongKeyspace keyspace = keyspaces.get(name);
    Set<Integer> groups = new HashSet<>();
    if (query instanceof SinglePartitionReadCommand.Group group) {
      group.queries.forEach(
          command -> groups.add(keyspace.groupOf(command.partitionKey().getToken()).number()));
    } else if (query instanceof PartitionRangeReadCommand range) {
      groups.addAll(SequentialRanges.groups(keyspace, range.dataRange().keyRange()));
    }
    return groups.size() == 1 ? OptionalInt.of(groups.iterator().next()) : OptionalInt.empty();
  }

  /**
   * Asks for the writes after a timestamp that have changed at least one of some ids. Fails with an
   * {@link IsoldeException}: UNSUPPORTED_KEYSPACE, TOO_MANY_WATCHES, UNAVAILABLE if no replica of
   * the group can tell, NOT_TRANSACTIONAL if the table is gone. Does not throw.
   *
   * @param group see {@link #groupOf}
   * @param after empty for those from now on
   * @param waitMillis after so long it tells that there are none
   */
  public CompletableFuture<Changes.Notification> ask(
      TableMetadata table, OptionalInt group, OptionalLong after, Set<Long> ids, long waitMillis) {
    if (group.isEmpty()) {
      return CompletableFuture.failedFuture(
          IsoldeException.of(
              ErrorCode.UNSUPPORTED_KEYSPACE,
              "A watch of a table that is not transactional is of what one replica group has."
                  + " isolde.groups has their token ranges: watch what each has by itself.",
              "table",
              table));
    }
    if (count.incrementAndGet() > MAX_WATCHES) {
      count.decrementAndGet();
      return CompletableFuture.failedFuture(tooMany());
    }
    Watch watch = new Watch(table.id, ids, after, waitMillis);
    var unused = watch.answer.whenComplete((notification, failure) -> ended(watch));
    try {
      StrongKeyspace keyspace = keyspaces.get(table.keyspace);
      watch.start(keyspace, group.getAsInt());
    } catch (RuntimeException | Error e) {
      watch.answer.completeExceptionally(e);
    }
    return watch.answer;
  }

  private void ended(Watch watch) {
    count.decrementAndGet();
    watch.asked.cancel(false); // If the one who asked does not want the answer any more.
  }

  private static IsoldeException tooMany() {
    return IsoldeException.of(
        ErrorCode.TOO_MANY_WATCHES,
        "As many watches wait on this node, or on one that it asks, as may. Ask another node, or"
            + " later, after the same timestamp.");
  }

  /** One question of a client. What is not volatile is touched by one thread at a time. */
  private final class Watch {
    private final TableId table;
    private final Set<Long> ids;
    private final long waitMillis;
    private final long startNanos = System.nanoTime();
    private final CompletableFuture<Changes.Notification> answer = new CompletableFuture<>();
    private StrongKeyspace keyspace;
    private int group;
    private OptionalLong after;
    private volatile CompletableFuture<Changes.Notification> asked = new CompletableFuture<>();

    private Watch(TableId table, Set<Long> ids, OptionalLong after, long waitMillis) {
      this.table = table;
      this.ids = ids;
      this.after = after;
      this.waitMillis = waitMillis;
    }

    private void start(StrongKeyspace of, int number) {
      keyspace = of;
      group = number;
      askNext();
    }

    private long leftMillis() {
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
      return Math.max(0, waitMillis - millis);
    }

    /** What "now" is, the leader says: a replica here may be behind. */
    private void askNext() {
      Changes here =
          after.isEmpty()
              ? null
              : keyspaces.recentChanges().of(keyspace.targets().get(group).group()).orElse(null);
      if (here == null) {
        askLeader();
      } else {
        follow(here.after(after, ids, Math.min(leftMillis(), MAX_WAIT_HERE_MILLIS)), true);
      }
    }

    private void askLeader() {
      long millis = after.isEmpty() ? 0 : Math.min(leftMillis(), MAX_WAIT_AT_LEADER_MILLIS);
      byte[] question = encode(new WatchMessages.Question(after, ids, (int) millis));
      StrongKeyspace now = keyspace.now();
      GroupClient.Target target = now.targets().get(group);
      follow(
          now.client()
              .read(target, question)
              .thenApply(GroupWatches::notification)
              .thenCompose(heard -> heard.isLost() ? askOthers(heard, now, target) : done(heard)),
          false);
    }

    /** A leader may have started lately, and another member know what it has forgotten. */
    private CompletableFuture<Changes.Notification> askOthers(
        Changes.Notification lost, StrongKeyspace now, GroupClient.Target target) {
      int millis = (int) Math.min(leftMillis(), MAX_WAIT_AT_MEMBER_MILLIS);
      byte[] question = encode(new WatchMessages.Question(after, ids, millis));
      return firstThatKnows(
          lost,
          after.orElseThrow(), // Who asks after nothing loses nothing.
          now.client().members(target),
          member ->
              now.client()
                  .readMember(target.group(), member, question)
                  .thenApply(GroupWatches::notification));
    }

    private void follow(CompletableFuture<Changes.Notification> next, boolean isHere) {
      asked = next;
      if (answer.isDone()) {
        next.cancel(false);
        return;
      }
      var unused =
          next.whenComplete(
              (notification, failure) -> {
                if (!answer.isDone()) {
                  heard(notification, failure, isHere);
                }
              });
    }

    private void heard(Changes.Notification notification, Throwable failure, boolean isHere) {
      try {
        if (isHere && (failure != null || notification.isLost())) {
          askLeader(); // Who may know more.
        } else if (failure != null) {
          answer.completeExceptionally(refusal(failure));
        } else {
          heard(notification);
        }
      } catch (RuntimeException | Error e) {
        answer.completeExceptionally(e);
      }
    }

    /**
     * While the table is closed, the moment of its change may be below a position and not known
     * here yet. The table opens when all nodes know it. So the barrier is looked at first.
     */
    private void heard(Changes.Notification heard) {
      boolean isClosed = barrier.isClosed(table);
      Changes.Notification notification =
          isClosed && after.isPresent() ? heard.withoutProgress(after.getAsLong()) : heard;
      long changed = changedAt();
      if (after.isPresent() && after.getAsLong() < changed) {
        answer.complete(new Changes.Notification(List.of(), changed, true));
      } else if (notification.commits().isEmpty() && !heard.isLost() && leftMillis() > 0) {
        after = OptionalLong.of(notification.position());
        askNext();
      } else {
        answer.complete(heard.isLost() ? heard : notification);
      }
    }

    /** When the table lost what its log does not report. All later writes are above that. */
    private long changedAt() {
      TableMetadata now = Schema.instance.getTableMetadata(table);
      if (now == null) {
        throw IsoldeException.of(ErrorCode.NOT_TRANSACTIONAL, "The table was dropped.");
      }
      VersionIndex transactional = NodeVersions.ofThisNode().of(table);
      return transactional != null ? transactional.begunAnewAt() : DroppedColumns.newestMicros(now);
    }
  }

  private static RuntimeException refusal(Throwable failure) {
    GroupFailure known = GroupFailure.of(failure);
    return known.reason() == GroupFailure.Reason.OVERLOADED
        ? tooMany()
        : IsoldeException.of(
            ErrorCode.UNAVAILABLE,
            "No replica of the group can tell of changes now: "
                + known.getMessage()
                + " Ask again, after the same timestamp; nothing is missed.");
  }

  /**
   * What the first of some members answers that has not lost it; what was lost if all have. That
   * one of them can't answer says nothing, nor that it has come no further: it may be copying, and
   * have heard of nothing yet.
   */
  static CompletableFuture<Changes.Notification> firstThatKnows(
      Changes.Notification lost,
      long after,
      List<Peer> members,
      Function<Peer, CompletableFuture<Changes.Notification>> ask) {
    CompletableFuture<Changes.Notification> found = done(lost);
    for (Peer member : members) {
      found =
          found.thenCompose(
              heard ->
                  heard.isLost()
                      ? ask.apply(member)
                          .handle((next, failure) -> knows(next, after) ? next : heard)
                      : done(heard));
    }
    return found;
  }

  private static boolean knows(Changes.Notification next, long after) {
    return next != null && !next.isLost() && (!next.commits().isEmpty() || next.position() > after);
  }

  private static CompletableFuture<Changes.Notification> done(Changes.Notification heard) {
    return CompletableFuture.completedFuture(heard);
  }

  private static Changes.Notification notification(byte[] answer) {
    return WatchMessages.notification(Unpooled.wrappedBuffer(answer));
  }

  private static byte[] encode(WatchMessages.Question question) {
    return bytes(Unpooled.wrappedBuffer(prefix(), WatchMessages.of(question)));
  }

  private static ByteBuf prefix() {
    return Unpooled.buffer(Integer.BYTES).writeInt(QUESTION);
  }

  private static byte[] bytes(ByteBuf buffer) {
    byte[] bytes = new byte[buffer.readableBytes()];
    buffer.readBytes(bytes);
    return bytes;
  }

  /** Whether a request to a leader is one of these. */
  static boolean isQuestion(byte[] request) {
    return Unpooled.wrappedBuffer(request).readInt() == QUESTION;
  }

  /** The side of the leader, after the barrier, or of a member that is asked what it knows. */
  static CompletableFuture<byte[]> answer(GroupChanges recent, ReplicaGroup group, byte[] request) {
    WatchMessages.Question question =
        WatchMessages.question(Unpooled.wrappedBuffer(request).skipBytes(Integer.BYTES));
    return recent
        .of(group.id())
        .map(here -> here.after(question.after(), question.ids(), question.waitMillis()))
        .orElseGet(() -> CompletableFuture.failedFuture(GroupFailure.notLeader(group.leader())))
        .thenApply(notification -> bytes(WatchMessages.of(notification)));
  }
}
