// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.node;

import io.isolde.peers.SchemaPull;
import io.isolde.snapshot.SnapshotTag;
import io.isolde.snapshot.gate.WriteGate;
import io.isolde.snapshot.protocol.Step;
import io.isolde.snapshot.protocol.StepAnswer;
import io.isolde.snapshot.store.TableCut;
import io.isolde.snapshot.store.TableLoad;
import io.isolde.snapshot.table.SnapshotCatalog;
import io.isolde.version.AsOfCut;
import io.isolde.version.NodeVersions;
import io.isolde.version.VersionIndex;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.compaction.CompactionManager;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.utils.JVMStabilityInspector;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What one node does for one snapshot, step by step. Steps are called one after another. */
final class ReplicaWork {
  private static final Logger log = LoggerFactory.getLogger(ReplicaWork.class);
  private static final long LOOK_MILLIS = 10;

  /** How long a change of the schema may take to get here. */
  private static final long SCHEMA_MILLIS = 40_000;

  private static final long NAME_MILLIS = 10_000;

  /** So long it is normally under way, at most. */
  private static final long PULL_MILLIS = 1_500;

  private final WriteGate gate;

  /** By the id of the source. Guarded by this. */
  private final Map<UUID, TableCut> cuts = new LinkedHashMap<>();

  /** The tables that writes wait for because of us. Guarded by this. */
  private Set<TableId> closedFor = Set.of();

  private boolean isReleased;
  private volatile boolean areTablesSeen;

  ReplicaWork(WriteGate gate) {
    this.gate = gate;
  }

  /** Does a step; returns its end, never an exception. */
  StepAnswer perform(Step step, SnapshotSpec order) {
    try {
      switch (step) {
        case RESERVE -> awaitName(order);
        case SEE_TABLES -> {
          awaitTables(order, table -> storeOf(table.targetId()) != null);
          areTablesSeen = true;
        }
        case CLOSE_GATE -> closeGate(order);
        case CUT -> cut(order);
        case OPEN_GATE -> openGate();
        case LOAD -> load(order);
        case SEE_READY -> {
          awaitTables(order, ReplicaWork::isReady);
          mergeIfOverlapping(order);
        }
      }
      return StepAnswer.DONE;
    } catch (Exception | Error e) { // Else nobody would hear that the step has ended.
      JVMStabilityInspector.inspectThrowable(e);
      log.warn("Step {} of the snapshot {} failed.", step, order.snapshot(), e);
      return StepAnswer.failed(step + ": " + (e.getMessage() == null ? e : e.getMessage()));
    }
  }

  /** The creator knows of no such snapshot: if this node does, it may not have heard of its end. */
  private static void awaitName(SnapshotSpec order) throws InterruptedException, TimeoutException {
    await(
        order,
        () -> SnapshotCatalog.find(order.snapshot()).isEmpty(),
        "There is a snapshot " + order.snapshot() + " already.",
        NAME_MILLIS);
  }

  private static void awaitTables(SnapshotSpec order, Predicate<SnapshotSpec.Table> isThere)
      throws InterruptedException, TimeoutException {
    await(
        order,
        () -> order.tables().stream().allMatch(isThere),
        "The schema of this node is behind.",
        SCHEMA_MILLIS);
  }

  /** Waits for a change of the schema, and asks the creator for it should it not come. */
  private static void await(
      SnapshotSpec order, BooleanSupplier isThere, String otherwise, long limitMillis)
      throws InterruptedException, TimeoutException {
    long begunNanos = System.nanoTime();
    long pullAfterMillis = PULL_MILLIS;
    while (!isThere.getAsBoolean()) {
      long waitedMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begunNanos);
      if (waitedMillis > limitMillis) {
        throw new TimeoutException(otherwise);
      }
      if (waitedMillis > pullAfterMillis) {
        SchemaPull.from(order.creator());
        pullAfterMillis += PULL_MILLIS;
      }
      Thread.sleep(LOOK_MILLIS);
    }
  }

  private static boolean isReady(SnapshotSpec.Table table) {
    ColumnFamilyStore store = storeOf(table.targetId());
    return store != null
        && SnapshotTag.of(store.metadata()).filter(SnapshotTag::isReady).isPresent();
  }

  /** In the background. Nobody else asks the strategy of a table that nobody writes to. */
  private static void mergeIfOverlapping(SnapshotSpec order) {
    for (SnapshotSpec.Table table : order.tables()) {
      var unused = CompactionManager.instance.submitBackground(storeOf(table.targetId()));
    }
  }

  private static ColumnFamilyStore storeOf(UUID table) {
    return Schema.instance.getColumnFamilyStoreInstance(TableId.fromUUID(table));
  }

  /** Null from Cassandra means dropped. */
  private static ColumnFamilyStore sourceOf(SnapshotSpec.Table table) {
    ColumnFamilyStore store = storeOf(table.sourceId());
    if (store == null) {
      throw new IllegalStateException("The table " + table.source() + " is not there any more.");
    }
    return store;
  }

  private void closeGate(SnapshotSpec order) {
    Set<TableId> tables =
        order.tables().stream()
            .map(table -> TableId.fromUUID(table.sourceId()))
            .collect(Collectors.toSet());
    gate.close(tables);
    synchronized (this) {
      closedFor = tables;
      if (isReleased) {
        openGate();
      }
    }
    // Should that take too long, the gate is opened meanwhile, and the creator hears of it.
    gate.awaitWrites();
  }

  synchronized void openGate() {
    gate.open(closedFor);
    closedFor = Set.of();
  }

  private void cut(SnapshotSpec order) {
    for (SnapshotSpec.Table table : order.tables()) {
      TableCut cut = TableCut.of(sourceOf(table));
      synchronized (this) {
        cuts.put(table.sourceId(), cut);
        if (isReleased) {
          release();
        }
      }
    }
  }

  private void load(SnapshotSpec order)
      throws IOException, ExecutionException, TimeoutException, InterruptedException {
    for (SnapshotSpec.Table table : order.tables()) {
      load(table, order);
    }
  }

  private void load(SnapshotSpec.Table table, SnapshotSpec order)
      throws IOException, ExecutionException, TimeoutException, InterruptedException {
    TableCut cut;
    synchronized (this) {
      cut = cuts.get(table.sourceId());
    }
    if (cut == null) {
      throw new IllegalStateException("The cut of " + table.source() + " is gone.");
    }
    List<SSTableReader> sstables = cut.sstables(order.loadMillis());
    TableLoad load = new TableLoad(storeOf(table.targetId()));
    if (table.isTransactional()) {
      load.load(new AsOfCut(versionsOf(table), order.cutMicros(), sstables));
    } else {
      load.load(sstables);
    }
    cut.close();
  }

  private static VersionIndex versionsOf(SnapshotSpec.Table table) {
    VersionIndex versions = NodeVersions.ofThisNode().of(TableId.fromUUID(table.sourceId()));
    if (versions == null) {
      throw new IllegalStateException("The table " + table.source() + " is not transactional now.");
    }
    return versions;
  }

  /** Whether the tables were there, and were dropped: then it is over, whoever did it. */
  boolean areTablesGone(SnapshotSpec order) {
    return areTablesSeen
        && order.tables().stream()
            .allMatch(table -> Schema.instance.getTableMetadata(idOf(table)) == null);
  }

  /** It is over; asks for the schema if this node has not heard that the tables went. */
  static void checkTablesGone(SnapshotSpec order) {
    for (SnapshotSpec.Table table : order.tables()) {
      ColumnFamilyStore store = storeOf(table.targetId());
      if (store != null && !isReady(table)) {
        SchemaPull.from(order.creator());
        return;
      }
    }
  }

  private static TableId idOf(SnapshotSpec.Table table) {
    return TableId.fromUUID(table.targetId());
  }

  /** Lets go of everything; also of what a step that still runs takes afterwards. */
  synchronized void release() {
    isReleased = true;
    openGate();
    cuts.values().forEach(TableCut::close);
    cuts.clear();
  }
}
