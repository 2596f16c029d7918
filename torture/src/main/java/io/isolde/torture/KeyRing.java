// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** A few keys that are in use; each is replaced by a fresh one when it has enough values. */
final class KeyRing {
  private static final int SLOTS = 6;
  private static final int VALUES_PER_KEY = 30;

  private final int first;
  private final AtomicIntegerArray values = new AtomicIntegerArray(SLOTS);
  private final Set<Integer> used = new ConcurrentSkipListSet<>();
  private final AtomicInteger nextValue = new AtomicInteger();

  /**
   * @param first the smallest key; up to a hundred thousand keys are taken from there on
   */
  KeyRing(int first) {
    this.first = first;
  }

  int draw(Random random) {
    int slot = random.nextInt(SLOTS);
    int key = first + slot + SLOTS * (values.get(slot) / VALUES_PER_KEY);
    used.add(key);
    return key;
  }

  /** A value that nobody else writes, for a key that was drawn. */
  int valueFor(int key) {
    var unused = values.incrementAndGet((key - first) % SLOTS);
    return nextValue.incrementAndGet();
  }

  Set<Integer> used() {
    return used;
  }
}
