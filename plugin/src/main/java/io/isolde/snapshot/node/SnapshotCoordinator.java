// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.node;

import io.isolde.peers.JsonMessages;
import io.isolde.peers.Peers;
import io.isolde.peers.Ring;
import io.isolde.snapshot.protocol.Creation;
import io.isolde.snapshot.protocol.Creation.Action;
import io.isolde.snapshot.protocol.Step;
import io.isolde.snapshot.protocol.StepAnswer;
import io.isolde.snapshot.table.SnapshotSchema;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Carries out what {@link Creation} decides, for one snapshot, in the thread of its client. */
final class SnapshotCoordinator {
  private static final Logger log = LoggerFactory.getLogger(SnapshotCoordinator.class);
  private static final long TICK_MILLIS = 50;
  private static final long RELEASE_MILLIS = 1_000;
  private static final long SHORT_STEP_MILLIS = 20_000;
  private static final long SCHEMA_STEP_MILLIS = 45_000;

  private final Peers peers;
  private final List<SnapshotSchema.NewTable> tables;
  private final LongSupplier chooseCut;
  private final long ringVersion;
  private final Creation creation;

  /** What happened; bounded by the nodes, each of which is asked one thing at a time. */
  private final LinkedBlockingQueue<Supplier<List<Action>>> events = new LinkedBlockingQueue<>();

  private final List<CompletableFuture<byte[]>> releases = new ArrayList<>();

  private SnapshotSpec order;
  private Creation.Outcome outcome;

  /**
   * Prepares a snapshot.
   *
   * @param nodes that must have it
   * @param order with everything but the moment
   * @param chooseCut says the moment, once, when all nodes are ready for it
   */
  SnapshotCoordinator(
      Peers peers,
      Set<String> nodes,
      List<SnapshotSchema.NewTable> tables,
      SnapshotSpec order,
      LongSupplier chooseCut) {
    this.peers = peers;
    this.tables = tables;
    this.order = order;
    this.chooseCut = chooseCut;
    this.ringVersion = Ring.version();
    this.creation = new Creation(nodes, order.isGated(), limits(order));
  }

  private static Map<Step, Long> limits(SnapshotSpec order) {
    Map<Step, Long> limits = new EnumMap<>(Step.class);
    for (Step step : Step.values()) {
      limits.put(step, SHORT_STEP_MILLIS);
    }
    limits.put(Step.SEE_TABLES, SCHEMA_STEP_MILLIS);
    limits.put(Step.SEE_READY, SCHEMA_STEP_MILLIS);
    limits.put(Step.LOAD, order.loadMillis());
    return limits;
  }

  private static long nowMillis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }

  /** The moment of the snapshot; 0 before it is chosen. */
  long cutMicros() {
    return order.cutMicros();
  }

  /** Makes the snapshot, or nothing; returns when that is so. */
  Creation.Outcome run() {
    Queue<Action> todo = new ArrayDeque<>(creation.start(nowMillis()));
    while (outcome == null) {
      Action action = todo.poll();
      todo.addAll(action == null ? awaitEvent() : carryOut(action));
    }
    awaitReleases();
    return outcome;
  }

  /**
   * So that the next one of this name finds nothing of this one. Nodes let go by themselves too.
   */
  private void awaitReleases() {
    var all = CompletableFuture.allOf(releases.toArray(CompletableFuture[]::new));
    try {
      all.get(RELEASE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      log.debug("Not all nodes heard that {} is over.", order.snapshot(), e);
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  private List<Action> awaitEvent() {
    try {
      Supplier<List<Action>> event = events.poll(TICK_MILLIS, TimeUnit.MILLISECONDS);
      return event == null ? creation.tick(nowMillis()) : event.get();
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  private List<Action> carryOut(Action action) {
    if (action instanceof Action.Ask ask) {
      return ask(ask.node(), ask.step());
    } else if (action instanceof Action.Release release) {
      releases.add(
          peers.ask(release.node(), JsonMessages.bytes(request(SnapshotSpec.Kind.RELEASE, null))));
    } else if (action instanceof Action.End end) {
      outcome = end.outcome();
    } else {
      return changeSchema(action);
    }
    return List.of();
  }

  private SnapshotSpec.Request request(SnapshotSpec.Kind kind, Step step) {
    return new SnapshotSpec.Request(kind, step, order);
  }

  private List<Action> ask(String node, Step step) {
    try {
      chooseMoment(step);
    } catch (RuntimeException e) {
      return creation.answered(
          node,
          step,
          StepAnswer.failed("The moment can't be chosen: " + e.getMessage()),
          nowMillis());
    }
    var unused =
        peers
            .ask(node, JsonMessages.bytes(request(SnapshotSpec.Kind.STEP, step)))
            .whenComplete(
                (answer, failure) -> events.add(() -> heard(node, step, answer, failure)));
    return List.of();
  }

  private void chooseMoment(Step step) {
    if (step == Step.CUT && order.cutMicros() == 0) {
      order =
          new SnapshotSpec(
              order.creation(),
              order.snapshot(),
              order.creator(),
              order.tables(),
              order.isGated(),
              chooseCut.getAsLong(),
              order.gateMillis(),
              order.loadMillis());
    }
  }

  private List<Action> heard(String node, Step step, byte[] answer, Throwable failure) {
    if (failure == null) {
      try {
        return creation.answered(
            node, step, JsonMessages.read(answer, StepAnswer.class), nowMillis());
      } catch (IOException e) {
        failure = e;
      }
    }
    log.debug("{} did not answer {}: {}", node, step, failure.toString());
    if (!Ring.isAlive(node)) {
      return creation.answered(
          node, step, StepAnswer.failed("The node went down at " + step + "."), nowMillis());
    }
    return creation.unreachable(node, step, nowMillis());
  }

  private List<Action> changeSchema(Action action) {
    try {
      if (action instanceof Action.AddTables) {
        SnapshotSchema.add(tables);
        return creation.tablesAdded(nowMillis());
      }
      if (action instanceof Action.Publish) {
        publish();
        return creation.published(nowMillis());
      }
      SnapshotSchema.remove(order.creation());
      return creation.tablesRemoved();
    } catch (RuntimeException e) {
      log.warn("The schema of the snapshot {} could not be changed.", order.snapshot(), e);
      return creation.schemaFailed(Ring.self(), String.valueOf(e.getMessage()));
    }
  }

  private void publish() {
    if (Ring.version() != ringVersion) {
      throw new IllegalStateException("Nodes joined, left or moved meanwhile.");
    }
    SnapshotSchema.publish(order.snapshot(), order.creation(), tables.size(), order.cutMicros());
  }
}
