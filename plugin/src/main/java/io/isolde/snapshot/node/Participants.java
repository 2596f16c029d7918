// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.node;

import io.isolde.snapshot.gate.WriteGate;
import io.isolde.snapshot.protocol.Participation;
import io.isolde.snapshot.protocol.Step;
import io.isolde.snapshot.protocol.StepAnswer;
import io.isolde.snapshot.store.DiskUsage;
import io.isolde.snapshot.table.SnapshotCatalog;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;

/** This node's part in the snapshots that are being made. Thread-safe. */
final class Participants {
  /** Each takes memory, and holds SSTables. */
  private static final int MAX_AT_ONCE = 16;

  private static final int MAX_REMEMBERED = 1000;

  private static final long LEASE_MILLIS = 60_000;

  /** How long a request waits for the end of a step before the creator has to ask again. */
  private static final long ANSWER_MILLIS = 500;

  private record Running(SnapshotSpec order, Participation state, ReplicaWork work) {}

  private final WriteGate gate;
  private final ExecutorService threads;

  /** By creation. Guarded by this. */
  private final Map<UUID, Running> running = new HashMap<>();

  /** Requests may come after the word that it is over. Guarded by this. */
  private final Map<UUID, Boolean> over =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<UUID, Boolean> eldest) {
          return size() > MAX_REMEMBERED;
        }
      };

  Participants(WriteGate gate, ExecutorService threads) {
    this.gate = gate;
    this.threads = threads;
  }

  private static long nowMillis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }

  /** Answers a request of a creator; within moments, whatever it takes. */
  synchronized StepAnswer asked(Step step, SnapshotSpec order) throws InterruptedException {
    tick();
    if (step == Step.RESERVE && !running.containsKey(order.creation())) {
      StepAnswer refusal = refusal(order);
      if (refusal != null) {
        return refusal;
      }
      running.put(order.creation(), begin(order));
    }
    Running one = running.get(order.creation());
    if (one == null) {
      return StepAnswer.failed("This node knows nothing of it: it was restarted, or has given up.");
    }
    if (one.state.asked(step, nowMillis()) == Participation.Decision.BEGIN) {
      threads.execute(() -> perform(one, step, order));
    }
    long deadline = nowMillis() + ANSWER_MILLIS;
    while (one.state.answer(step).state() == StepAnswer.State.RUNNING && nowMillis() < deadline) {
      wait(Math.max(1, deadline - nowMillis()));
    }
    return one.state.answer(step);
  }

  private Running begin(SnapshotSpec order) {
    return new Running(
        order,
        new Participation(order.isGated(), LEASE_MILLIS, order.gateMillis(), nowMillis()),
        new ReplicaWork(gate));
  }

  /** Null if there is nothing against it. */
  private StepAnswer refusal(SnapshotSpec order) {
    if (over.containsKey(order.creation())) {
      return StepAnswer.failed("The creator said that it is over.");
    }
    boolean isTaken =
        running.values().stream().anyMatch(one -> one.order.snapshot().equals(order.snapshot()));
    if (isTaken) {
      return StepAnswer.failed("Another snapshot " + order.snapshot() + " is being made.");
    }
    return running.size() >= MAX_AT_ONCE
        ? StepAnswer.failed("So many snapshots are being made already: " + running.size() + ".")
        : null;
  }

  private void perform(Running one, Step step, SnapshotSpec order) {
    StepAnswer answer = one.work.perform(step, order);
    synchronized (this) {
      one.state.ended(step, answer);
      if (one.state.isReleased()) {
        one.work.release();
      }
      notifyAll();
    }
  }

  /** The creator says that it is over. */
  synchronized void released(SnapshotSpec order) {
    UUID creation = order.creation();
    over.put(creation, true);
    Running one = running.remove(creation);
    if (one != null) {
      one.state.release();
      one.work.release();
    }
    ReplicaWork.checkTablesGone(order);
  }

  /** Lets go of what creators have forgotten. Called from time to time. */
  synchronized void tick() {
    for (Iterator<Running> each = running.values().iterator(); each.hasNext(); ) {
      Running one = each.next();
      if (one.state.tick(nowMillis()) || one.work.areTablesGone(one.order)) {
        one.state.release();
        one.work.release();
        each.remove();
      } else if (one.order.isGated() && !one.state.isGateClosed()) {
        one.work.openGate();
      }
    }
  }

  /** Whether the snapshot is being made, as far as this node knows. */
  synchronized boolean isRunning(UUID creation) {
    return running.containsKey(creation);
  }

  /** All snapshots on this node. */
  List<SnapshotReplicaStatus> status() {
    List<SnapshotReplicaStatus> all = new ArrayList<>();
    for (SnapshotCatalog.Snapshot snapshot : SnapshotCatalog.all()) {
      DiskUsage usage = DiskUsage.NONE;
      boolean isMissing = false;
      for (TableMetadata table : snapshot.tables()) {
        ColumnFamilyStore store = Schema.instance.getColumnFamilyStoreInstance(table.id);
        isMissing |= store == null;
        usage = store == null ? usage : usage.plus(DiskUsage.of(store));
      }
      String state = isMissing ? "MISSING" : snapshot.isReady() ? "READY" : "CREATING";
      all.add(new SnapshotReplicaStatus(snapshot.creation(), state, usage));
    }
    return all;
  }
}
