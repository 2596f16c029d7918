// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.snapshot.protocol.Creation.Action;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * One snapshot on a cluster that loses and repeats messages and whose nodes die: everything that
 * happens follows from the seed. Node 0 is the creator.
 */
final class SimulatedCluster {
  private static final long FAULTS_END_MILLIS = 60_000;
  private static final long END_MILLIS = 400_000;
  private static final long LEASE_MILLIS = 20_000;
  private static final long GATE_MILLIS = 2_000;
  private static final long SEE_MILLIS = 15_000;

  private record Event(long atMillis, long number, Runnable action) {}

  private final SplittableRandom random;
  private final boolean isGated;
  private final double lossRate;
  private final double crashRate;
  private final List<SimulatedNode> nodes = new ArrayList<>();
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(
          (a, b) ->
              a.atMillis != b.atMillis
                  ? Long.compare(a.atMillis, b.atMillis)
                  : Long.compare(a.number, b.number));
  private final GateWatch gates = new GateWatch();

  private long now;
  private long scheduled;
  private Creation creation;

  /** What the client was told; null if the creator died before. */
  Creation.Outcome heard;

  SimulatedCluster(long seed) {
    random = new SplittableRandom(seed);
    isGated = random.nextBoolean();
    lossRate = random.nextInt(3) * 0.1;
    crashRate = random.nextInt(4) * 0.0007;
    int size = 1 + random.nextInt(5);
    for (int i = 0; i < size; i++) {
      nodes.add(new SimulatedNode(i));
    }
  }

  private void after(long delayMillis, Runnable action) {
    events.add(new Event(now + delayMillis, scheduled++, action));
  }

  /** Runs to the end of time, and checks what must hold then. */
  void run() {
    Map<Step, Long> limits = new EnumMap<>(Step.class);
    for (Step step : Step.values()) {
      limits.put(step, 20_000L);
    }
    Map<String, SimulatedNode> named = new TreeMap<>();
    nodes.forEach(node -> named.put(node.name, node));
    creation = new Creation(named.keySet(), isGated, limits);
    carryOut(creation.start(now));
    after(50, this::tick);
    while (!events.isEmpty() && events.peek().atMillis <= END_MILLIS) {
      Event next = events.poll();
      now = next.atMillis;
      next.action.run();
      checkDecision();
    }
    checkEnd();
  }

  private boolean isFaulty() {
    return now < FAULTS_END_MILLIS;
  }

  private void tick() {
    for (SimulatedNode node : nodes) {
      if (node.isAlive) {
        node.tick(now, gates);
        if (isFaulty() && random.nextDouble() < crashRate) {
          crash(node);
        }
      }
    }
    if (creation != null) {
      carryOut(creation.tick(now));
    }
    spreadSchema();
    after(50, this::tick);
  }

  private void crash(SimulatedNode node) {
    node.crash(now, gates);
    if (node.number == 0) {
      creation = null;
    }
    after(1000 + random.nextInt(20_000), () -> restart(node));
  }

  private void restart(SimulatedNode node) {
    node.isAlive = true;
    // What the creator's janitor does.
    if (node.number == 0 && node.schema == SimulatedNode.Tables.CREATING && creation == null) {
      changeSchema(SimulatedNode.Tables.NONE);
    }
  }

  /** Nodes hear of the schema from any other, sooner or later. */
  private void spreadSchema() {
    SimulatedNode from = nodes.get(random.nextInt(nodes.size()));
    SimulatedNode to = nodes.get(random.nextInt(nodes.size()));
    if (from.isAlive && to.isAlive && random.nextDouble() >= lossRate) {
      to.hear(from);
    }
  }

  private void changeSchema(SimulatedNode.Tables tables) {
    SimulatedNode creator = nodes.get(0);
    creator.change(tables);
    for (SimulatedNode node : nodes) {
      deliver(() -> node.hear(creator), node);
    }
  }

  private void deliver(Runnable message, SimulatedNode to) {
    if (isFaulty() && random.nextDouble() < lossRate) {
      return;
    }
    int copies = isFaulty() && random.nextInt(20) == 0 ? 2 : 1;
    for (int i = 0; i < copies; i++) {
      after(
          1 + random.nextInt(random.nextInt(10) == 0 ? 3000 : 50),
          () -> {
            if (to.isAlive) {
              message.run();
            }
          });
    }
  }

  private void carryOut(List<Action> actions) {
    for (Action action : actions) {
      if (creation == null) {
        return; // the creator died in the middle of its list
      }
      carryOut(action);
    }
  }

  private void carryOut(Action action) {
    if (action instanceof Action.Ask ask) {
      ask(ask.node(), ask.step());
    } else if (action instanceof Action.Release release) {
      SimulatedNode node = node(release.node());
      deliver(() -> node.released(now, gates), node);
    } else if (action instanceof Action.End end) {
      heard = end.outcome();
      creation = null;
    } else {
      changeSchema(action);
    }
  }

  private void changeSchema(Action action) {
    changeSchema(
        action instanceof Action.AddTables
            ? SimulatedNode.Tables.CREATING
            : action instanceof Action.Publish
                ? SimulatedNode.Tables.READY
                : SimulatedNode.Tables.NONE);
    if (isFaulty() && crashRate > 0 && random.nextInt(20) == 0) {
      crash(nodes.get(0));
      return;
    }
    Creation of = creation;
    after(
        1 + random.nextInt(500),
        () -> {
          if (creation == of && creation != null) {
            carryOut(
                action instanceof Action.AddTables
                    ? creation.tablesAdded(now)
                    : action instanceof Action.Publish
                        ? creation.published(now)
                        : creation.tablesRemoved());
          }
        });
  }

  private void ask(String name, Step step) {
    SimulatedNode node = node(name);
    Creation of = creation;
    boolean[] isAnswered = {false};
    deliver(
        () -> {
          begin(node, step);
          // As long as a request may wait for its answer.
          after(
              random.nextInt(500),
              () -> {
                if (node.isAlive) {
                  StepAnswer answer = node.answer(step);
                  deliver(
                      () -> {
                        isAnswered[0] = true;
                        if (creation == of && creation != null) {
                          carryOut(creation.answered(name, step, answer, now));
                        }
                      },
                      nodes.get(0));
                }
              });
        },
        node);
    after(
        4000,
        () -> {
          if (!isAnswered[0] && creation == of && creation != null) {
            carryOut(creation.unreachable(name, step, now));
          }
        });
  }

  private void begin(SimulatedNode node, Step step) {
    if (!node.asked(step, isGated, LEASE_MILLIS, GATE_MILLIS, now)) {
      return;
    }
    Participation of = node.participation;
    long startedMillis = now;
    after(
        1 + random.nextInt(step == Step.LOAD ? 5000 : 300),
        () -> work(node, of, step, startedMillis));
  }

  private void work(SimulatedNode node, Participation of, Step step, long startedMillis) {
    if (!node.isAlive || node.participation != of) {
      return;
    }
    boolean isSeen =
        switch (step) {
          case SEE_TABLES -> node.schema != SimulatedNode.Tables.NONE;
          case SEE_READY -> node.schema == SimulatedNode.Tables.READY;
          default -> true;
        };
    if (!isSeen && now - startedMillis < SEE_MILLIS) {
      after(10, () -> work(node, of, step, startedMillis));
      return;
    }
    boolean fails = !isSeen || (isFaulty() && random.nextInt(100) == 0);
    if (!fails) {
      node.perform(step, now, gates);
    }
    of.ended(step, fails ? StepAnswer.failed("No space left on device.") : StepAnswer.DONE);
  }

  private SimulatedNode node(String name) {
    return nodes.stream().filter(node -> node.name.equals(name)).findFirst().orElseThrow();
  }

  /** Whoever sees the snapshot finds all of it, everywhere. */
  private void checkDecision() {
    if (nodes.stream().anyMatch(node -> node.schema == SimulatedNode.Tables.READY)) {
      assertThat(nodes).allMatch(node -> node.isLoaded, "is loaded");
      if (isGated) {
        gates.check(nodes.size());
      }
    }
  }

  private void checkEnd() {
    assertThat(nodes).allMatch(node -> node.isAlive, "is back");
    SimulatedNode.Tables end = nodes.get(0).schema;
    assertThat(nodes).as("all or nothing").allMatch(node -> node.schema == end, "agrees");
    assertThat(end).as("nothing half-made").isNotEqualTo(SimulatedNode.Tables.CREATING);
    assertThat(nodes).allMatch(node -> node.holdsNothing(), "holds nothing");
    if (heard != null) {
      assertThat(end == SimulatedNode.Tables.READY).as("as told").isEqualTo(heard.isCreated());
    }
  }
}
