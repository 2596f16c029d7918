// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.conflict.RowIds;
import io.isolde.conflict.WrittenIds;
import io.isolde.group.ReplicaGroup;
import io.isolde.group.ReplicaStatus;
import io.isolde.oracle.group.Changes;
import io.isolde.raft.Daemons;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * What the replicas of this node have applied lately, for those who watch it. All members of a
 * group have the same writes in the same order, so any of them can say what came after a timestamp.
 * Nothing of it is saved: a replica that starts knows what it reads again of its log.
 */
final class GroupChanges implements AutoCloseable {
  /** Of each group; with their ids some 2.5 MiB. */
  static final int MAX_WRITES = 1 << 15;

  /** Of each group. */
  private static final int MAX_IDS = 1 << 17;

  /** Of all groups together: as many as of sixteen that are written to without pause. */
  static final int MAX_NODE_WRITES = 16 * MAX_WRITES;

  /** The same, of heap, about. */
  static final long MAX_NODE_BYTES = 40L << 20;

  /** So few at a time that no group's writes wait; so many that groups are seldom compared. */
  private static final int FORGOTTEN_AT_ONCE = 64;

  /** Nor more than this part of all. */
  private static final int FORGOTTEN_PART = 256;

  /** For the same reason a group may forget what is so much newer than what another one keeps. */
  private static final long FORGOTTEN_AT_ONCE_MICROS = 1_000_000;

  /** A member that is further behind lets the leader answer. */
  private static final long MAX_LAG_ENTRIES = 1_024;

  private static final long LOOK_MILLIS = 250;
  private static final long[] NONE = {};

  private final int maxWrites;
  private final long maxBytes;
  private final Map<UUID, Changes> byGroup = new ConcurrentHashMap<>();
  private final ScheduledExecutorService thread = Daemons.timer("isolde-group-watch");

  /** Of all groups. */
  private final AtomicInteger writes = new AtomicInteger();

  private final AtomicLong bytes = new AtomicLong();

  /**
   * Held by who makes room. He has no group's lock then, but takes those of one after the other.
   */
  private final Object roomLock = new Object();

  GroupChanges() {
    this(MAX_NODE_WRITES, MAX_NODE_BYTES);
  }

  /** With other bounds for all groups together. */
  GroupChanges(int maxWrites, long maxBytes) {
    this.maxWrites = maxWrites;
    this.maxBytes = maxBytes;
  }

  /** Begins to look whether this node's replicas keep up. */
  void start(Function<UUID, Optional<ReplicaGroup>> replicas) {
    var unused =
        thread.scheduleWithFixedDelay(
            () -> {
              long now = System.nanoTime();
              byGroup.forEach(
                  (group, changes) ->
                      changes.follows(keepsUp(replicas.apply(group).orElse(null)), now));
            },
            LOOK_MILLIS,
            LOOK_MILLIS,
            TimeUnit.MILLISECONDS);
  }

  private static boolean keepsUp(ReplicaGroup replica) {
    return replica != null
        && replica.role() != ReplicaStatus.Role.COPYING
        && replica.leader().isPresent()
        && replica.lagEntries() <= MAX_LAG_ENTRIES
        && replica.problem().isEmpty();
  }

  /** Of a group's replica here, if there is one. */
  Optional<Changes> of(UUID group) {
    return Optional.ofNullable(byGroup.get(group));
  }

  /** A sum over this node's replicas. */
  long sum(ToLongFunction<Changes> figure) {
    return byGroup.values().stream().mapToLong(figure).sum();
  }

  private void kept(int moreWrites, long moreBytes) {
    var unused = writes.addAndGet(moreWrites);
    var unusedToo = bytes.addAndGet(moreBytes);
  }

  private boolean isTooMuch() {
    return writes.get() > maxWrites || bytes.get() > maxBytes;
  }

  /**
   * Forgets the oldest writes, whichever group's they are. So all groups reach back for about the
   * same time, and who watches a quiet one loses nothing by it: its position is newer.
   */
  private void makeRoom() {
    synchronized (roomLock) {
      while (isTooMuch()) {
        Changes oldest = null;
        long least = Long.MAX_VALUE;
        long next = Long.MAX_VALUE;
        for (Changes each : byGroup.values()) {
          long timestamp = each.oldest().orElse(Long.MAX_VALUE);
          if (timestamp < least) {
            next = least;
            least = timestamp;
            oldest = each;
          } else {
            next = Math.min(next, timestamp);
          }
        }
        if (oldest == null) {
          return; // What is being added goes later, with the next write.
        }
        long upTo = Math.min(next, Long.MAX_VALUE - FORGOTTEN_AT_ONCE_MICROS);
        int most = Math.max(1, Math.min(FORGOTTEN_AT_ONCE, writes.get() / FORGOTTEN_PART));
        oldest.forgetOldest(most, upTo + FORGOTTEN_AT_ONCE_MICROS);
      }
    }
  }

  /** There is no replica of a group here any more. */
  void forget(UUID group) {
    Changes gone = byGroup.remove(group);
    if (gone != null) {
      gone.ended();
    }
  }

  /** What a replica reports that starts. */
  Replica replica(UUID group) {
    return new Replica(group);
  }

  private Changes made() {
    return Changes.ofLog(thread, MAX_WRITES, MAX_IDS, this::kept);
  }

  /** One group's replica. Used by who applies its log. */
  final class Replica {
    private final UUID group;
    private volatile Changes changes;

    private Replica(UUID group) {
      this.group = group;
    }

    /** What comes next has a timestamp above this one. */
    void begin(long lastMicros) {
      changes = byGroup.computeIfAbsent(group, id -> made());
      changes.begun(lastMicros);
    }

    /** The next write can be read. */
    void applied(long micros, Payload.Content content) {
      if (changes != null) {
        changes.written(micros, ids(content));
        if (isTooMuch()) {
          makeRoom();
        }
      }
    }

    void stop() {
      if (changes != null) {
        changes.ended();
      }
    }

    private static long[] ids(Payload.Content content) {
      if (content instanceof Payload.Updates made) {
        return WrittenIds.of(made.updates());
      }
      return content instanceof Payload.Truncation truncation
          ? new long[] {RowIds.table(truncation.table())}
          : NONE;
    }
  }

  @Override
  public void close() {
    byGroup.values().forEach(Changes::ended);
    thread.shutdown();
  }
}
