// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.stream.Collectors;

/** A virtual clock, what will happen by it, and what happened last. One seed decides it all. */
final class Timeline {
  private static final int REMEMBERED = 60;

  private record Event(long at, long number, Runnable action) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      return at != other.at ? Long.compare(at, other.at) : Long.compare(number, other.number);
    }
  }

  private record Remark(long at, List<Object> words) {
    @Override
    public String toString() {
      return at + ": " + words.stream().map(String::valueOf).collect(Collectors.joining(" "));
    }
  }

  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private final Deque<Remark> remarks = new ArrayDeque<>();
  private final Random random;
  private long scheduled;
  private long nowMicros = 1_000_000;

  Timeline(long seed) {
    random = new Random(seed);
  }

  long nowMicros() {
    return nowMicros;
  }

  void after(long micros, Runnable action) {
    events.add(new Event(nowMicros + micros, scheduled++, action));
  }

  /** Lets the next thing happen. */
  void step() {
    Event next = events.remove();
    nowMicros = next.at;
    next.action.run();
  }

  int below(int bound) {
    return random.nextInt(bound);
  }

  boolean oneIn(int bound) {
    return random.nextInt(bound) == 0;
  }

  /** For the end of a run that fails. */
  void remark(Object... words) {
    if (remarks.size() == REMEMBERED) {
      remarks.remove();
    }
    remarks.add(new Remark(nowMicros, Arrays.asList(words)));
  }

  String lastRemarks() {
    return remarks.stream().map(Remark::toString).collect(Collectors.joining("\n  ", "  ", "\n"));
  }
}
