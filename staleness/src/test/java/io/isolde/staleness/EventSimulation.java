// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.random.RandomGenerator;

/**
 * A cluster as events in time, written without any of the predictor's code: coordinators send
 * messages, replicas keep the newest version and answer, coordinators count answers.
 */
final class EventSimulation {
  private record Event(double at, long order, Runnable action) {}

  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingDouble(Event::at).thenComparingLong(Event::order));
  private final RandomGenerator random;
  private final Legs legs;
  private final int[] versions;
  private double now;
  private long order;

  EventSimulation(int replicas, Legs legs, RandomGenerator random) {
    this.versions = new int[replicas];
    this.legs = legs;
    this.random = random;
  }

  void at(double time, Runnable action) {
    events.add(new Event(time, order++, action));
  }

  double now() {
    return now;
  }

  void run() {
    while (!events.isEmpty()) {
      Event next = events.poll();
      now = next.at();
      next.action().run();
    }
  }

  /** Sends a version to all replicas; goes on when so many have acknowledged it. */
  void write(int version, int needed, Runnable acknowledged) {
    int[] count = {0};
    for (int replica = 0; replica < versions.length; replica++) {
      int target = replica;
      at(
          now + legs.write().drawMicros(random),
          () -> {
            versions[target] = Math.max(versions[target], version);
            at(
                now + legs.ack().drawMicros(random),
                () -> {
                  if (++count[0] == needed) {
                    acknowledged.run();
                  }
                });
          });
    }
  }

  /**
   * Asks all replicas, or just as many as must answer; goes on with the newest version of those.
   */
  void read(int needed, boolean fromAll, java.util.function.IntConsumer done) {
    List<Integer> targets = new ArrayList<>();
    for (int replica = 0; replica < versions.length; replica++) {
      targets.add(random.nextInt(targets.size() + 1), replica);
    }
    List<Integer> answers = new ArrayList<>();
    for (int target : fromAll ? targets : targets.subList(0, needed)) {
      at(
          now + legs.request().drawMicros(random),
          () -> {
            int seen = versions[target];
            at(
                now + legs.response().drawMicros(random),
                () -> {
                  answers.add(seen);
                  if (answers.size() == needed) {
                    done.accept(answers.stream().mapToInt(each -> each).max().orElseThrow());
                  }
                });
          });
    }
  }
}
