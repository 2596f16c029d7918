// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.node;

import com.google.common.util.concurrent.Uninterruptibles;
import io.isolde.config.NodeClock;
import io.isolde.config.SnapshotSettings;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.peers.Peers;
import io.isolde.peers.Ring;
import io.isolde.peers.SchemaPull;
import io.isolde.snapshot.SnapshotTag;
import io.isolde.snapshot.protocol.Creation;
import io.isolde.snapshot.table.SnapshotCatalog;
import io.isolde.snapshot.table.SnapshotSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;

/** Creates and drops snapshots, through this node. Thread-safe. */
public final class Snapshots {
  private static final long MICROS_PER_MILLI = 1000;
  private static final long UNFINISHED_MILLIS = 5_000;
  private static final long LOOK_MILLIS = 500;

  private final SnapshotSettings settings;
  private final Peers peers;

  /** Those that this node creates just now. */
  private final Set<UUID> creating = ConcurrentHashMap.newKeySet();

  Snapshots(SnapshotSettings settings, Peers peers) {
    this.settings = settings;
    this.peers = peers;
  }

  /**
   * What to take a snapshot of.
   *
   * @param ttlMillis after so long it goes by itself; 0 for never
   * @param isGated whether writes wait while it is cut
   */
  public record SnapshotRequest(
      String name, List<TableMetadata> tables, long ttlMillis, boolean isGated) {}

  /**
   * A snapshot that can be read.
   *
   * @param timestampMicros its moment, since 1970
   * @param nodes that have a replica of it
   */
  public record Created(String name, long timestampMicros, int tables, int nodes) {}

  boolean isCreating(UUID creation) {
    return creating.contains(creation);
  }

  /**
   * Creates a snapshot: when this returns it can be read through any node.
   *
   * @param stable chooses a moment at which every commit before it is applied, and has it kept
   *     readable until this returns; asked if one of the tables is transactional
   * @throws IsoldeException SNAPSHOT_EXISTS; SNAPSHOT_FAILED, and then nothing of it is left
   */
  public Created create(SnapshotRequest request, LongSupplier stable) {
    if (isTaken(request.name())) {
      throw IsoldeException.of(
          ErrorCode.SNAPSHOT_EXISTS,
          "There is a snapshot "
              + request.name()
              + " already; take another name, or drop it first.",
          "snapshot",
          request.name());
    }
    Set<String> replicas = new TreeSet<>();
    request.tables().forEach(table -> replicas.addAll(SnapshotReplicas.of(table.keyspace)));
    // Clients write through any node, and another snapshot of the name may be made through any.
    Set<String> nodes = new TreeSet<>(Ring.members());
    nodes.addAll(replicas);
    SnapshotReplicas.requireAlive(nodes);
    UUID creation = UUID.randomUUID();
    List<SnapshotSchema.NewTable> tables = new ArrayList<>();
    request.tables().forEach(table -> tables.add(newTable(table, creation, request)));
    boolean isAnyTransactional =
        request.tables().stream().anyMatch(SnapshotSchema::isTransactional);
    LongSupplier moment =
        isAnyTransactional ? stable : () -> NodeClock.nowMillis() * MICROS_PER_MILLI;
    SnapshotCoordinator creator =
        new SnapshotCoordinator(peers, nodes, tables, order(creation, request, tables), moment);
    creating.add(creation);
    try {
      return result(creator.run(), creator, request, replicas.size());
    } finally {
      creating.remove(creation);
    }
  }

  /** Of one that is not ready this node may not have heard the end: it asks who made it. */
  private static boolean isTaken(String name) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(UNFINISHED_MILLIS);
    while (true) {
      Optional<SnapshotCatalog.Snapshot> found = SnapshotCatalog.find(name);
      if (found.isEmpty()) {
        return false;
      }
      if (found.get().isReady() || System.nanoTime() > deadline) {
        return true;
      }
      Ring.nameOf(found.get().tag().creator()).ifPresent(SchemaPull::from);
      Uninterruptibles.sleepUninterruptibly(LOOK_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  private static SnapshotSchema.NewTable newTable(
      TableMetadata table, UUID creation, SnapshotRequest request) {
    long now = NodeClock.nowMillis();
    SnapshotTag tag =
        new SnapshotTag(
            request.name(),
            creation,
            table.name,
            table.id.asUUID(),
            Ring.hostId(),
            now,
            false,
            cutOf(table, request),
            0,
            request.ttlMillis() == 0 ? 0 : now + request.ttlMillis());
    return new SnapshotSchema.NewTable(table, TableId.generate(), tag);
  }

  private static SnapshotTag.Cut cutOf(TableMetadata table, SnapshotRequest request) {
    if (SnapshotSchema.isTransactional(table)) {
      return SnapshotTag.Cut.TIMESTAMP;
    }
    return request.isGated() ? SnapshotTag.Cut.GATE : SnapshotTag.Cut.BARRIER;
  }

  private SnapshotSpec order(
      UUID creation, SnapshotRequest request, List<SnapshotSchema.NewTable> tables) {
    return new SnapshotSpec(
        creation,
        request.name(),
        Ring.self(),
        tables.stream()
            .map(
                table ->
                    new SnapshotSpec.Table(
                        table.source().toString(),
                        table.source().id.asUUID(),
                        table.id().asUUID(),
                        table.tag().cut() == SnapshotTag.Cut.TIMESTAMP))
            .toList(),
        request.isGated(),
        0,
        settings.gateLimitMillis(),
        settings.timeoutMillis());
  }

  private static Created result(
      Creation.Outcome outcome,
      SnapshotCoordinator creator,
      SnapshotRequest request,
      int replicas) {
    if (!outcome.isCreated()) {
      throw IsoldeException.of(
          ErrorCode.SNAPSHOT_FAILED,
          "The snapshot "
              + request.name()
              + " was not made, and nothing of it is left: "
              + sentences(outcome.problems()),
          "snapshot",
          request.name(),
          "nodes",
          String.join(",", new TreeSet<>(outcome.problems().keySet())));
    }
    return new Created(request.name(), creator.cutMicros(), request.tables().size(), replicas);
  }

  private static String sentences(Map<String, String> problems) {
    return problems.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .map(problem -> problem.getKey() + ": " + problem.getValue())
        .collect(Collectors.joining(" "));
  }

  /**
   * Drops a snapshot.
   *
   * @throws IsoldeException SNAPSHOT_UNAVAILABLE while it is being made
   */
  public void drop(SnapshotCatalog.Snapshot snapshot) {
    SnapshotTag tag = snapshot.tag();
    if (!snapshot.isReady() && (isCreating(tag.creation()) || Ring.isAlive(tag.creator()))) {
      throw IsoldeException.of(
          ErrorCode.SNAPSHOT_UNAVAILABLE,
          "The snapshot " + tag.snapshot() + " is being made, or removed, just now; try again.",
          "snapshot",
          tag.snapshot());
    }
    SnapshotSchema.remove(tag.creation());
  }
}
