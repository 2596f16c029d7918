// SPDX-License-Identifier: Apache-2.0
package io.isolde.history;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/**
 * Whether a counter was one counter for all of its clients. Each addition adds a power of two of
 * its own, so that a value says which additions it has. What has been added twice shows as the
 * power of another one, mostly one that nobody added.
 */
public final class CounterHistory {
  /** How many additions a counter may have, so that no sum overflows. */
  public static final int MAX_ADDITIONS = 60;

  /** The end of what was never answered. */
  public static final long NEVER = Long.MAX_VALUE;

  private CounterHistory() {}

  /**
   * An addition that was made or may have been made.
   *
   * @param bit the exponent of what was added
   * @param beginNanos when it was sent
   * @param endNanos when it was answered; {@link #NEVER} if that is not known
   */
  public record Addition(int bit, long beginNanos, long endNanos) {
    private boolean isIn(long value) {
      return (value >>> bit & 1) == 1;
    }
  }

  /** A value that was read between two moments. */
  public record Reading(long value, long beginNanos, long endNanos) {}

  /** What no counter does; empty if nothing of that was seen. */
  public static List<String> violations(
      Collection<Addition> additions, Collection<Reading> readings) {
    List<String> violations = new ArrayList<>();
    long all = 0;
    for (Addition addition : additions) {
      all |= 1L << addition.bit();
    }
    for (Reading reading : readings) {
      if ((reading.value() & ~all) != 0) {
        violations.add("%s has what nobody added, or something twice".formatted(reading));
      }
      for (Addition addition : additions) {
        if (addition.isIn(reading.value()) && addition.beginNanos() > reading.endNanos()) {
          violations.add("%s has %s, which came later".formatted(reading, addition));
        } else if (!addition.isIn(reading.value()) && addition.endNanos() < reading.beginNanos()) {
          violations.add("%s lacks %s".formatted(reading, addition));
        }
      }
      violations.addAll(outOfOrder(reading, additions));
    }
    violations.addAll(contradictions(readings));
    return violations;
  }

  /** A value that has an addition has all that were answered before that one was sent. */
  private static List<String> outOfOrder(Reading reading, Collection<Addition> additions) {
    List<String> violations = new ArrayList<>();
    for (Addition later : additions) {
      for (Addition earlier : additions) {
        if (later.isIn(reading.value())
            && !earlier.isIn(reading.value())
            && earlier.endNanos() < later.beginNanos()) {
          violations.add("%s has %s without %s".formatted(reading, later, earlier));
        }
      }
    }
    return violations;
  }

  /** Values follow one another: each has what one before had, and a later reading has no less. */
  private static List<String> contradictions(Collection<Reading> readings) {
    List<String> violations = new ArrayList<>();
    List<Reading> ordered = new ArrayList<>(readings);
    ordered.sort(Comparator.comparingInt(reading -> Long.bitCount(reading.value())));
    for (int i = 1; i < ordered.size(); i++) {
      Reading less = ordered.get(i - 1);
      Reading more = ordered.get(i);
      if ((less.value() & ~more.value()) != 0) {
        violations.add("%s and %s were never one after the other".formatted(less, more));
      }
    }
    ordered.sort(Comparator.comparingLong(Reading::beginNanos));
    for (Reading reading : ordered) {
      for (Reading before : ordered) {
        if (before.endNanos() < reading.beginNanos()
            && Long.bitCount(before.value()) > Long.bitCount(reading.value())) {
          violations.add("%s comes after %s".formatted(reading, before));
        }
      }
    }
    return violations;
  }
}
