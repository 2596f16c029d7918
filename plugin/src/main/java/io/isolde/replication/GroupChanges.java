// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.conflict.RowIds;
import io.isolde.conflict.WrittenIds;
import io.isolde.group.ReplicaGroup;
import io.isolde.oracle.group.Changes;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
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

  /** A member that is further behind lets the leader answer. */
  private static final long MAX_LAG_ENTRIES = 1_024;

  private static final long LOOK_MILLIS = 250;
  private static final long[] NONE = {};

  private final Map<UUID, Changes> byGroup = new ConcurrentHashMap<>();
  private final ScheduledExecutorService thread = Changes.thread("isolde-group-watch");

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

  /** One group's replica. Used by who applies its log. */
  final class Replica {
    private final UUID group;
    private volatile Changes changes;

    private Replica(UUID group) {
      this.group = group;
    }

    /** What comes next has a timestamp above this one. */
    void begin(long lastMicros) {
      changes = byGroup.computeIfAbsent(group, id -> Changes.ofLog(thread, MAX_WRITES, MAX_IDS));
      changes.begun(lastMicros);
    }

    /** The next write can be read. */
    void applied(long micros, Payload.Content content) {
      if (changes != null) {
        changes.written(micros, ids(content));
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
