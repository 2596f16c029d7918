// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Numbers a coordinator's commits. The oracle remembers the last {@link #WINDOW} decisions of a
 * session. So a number is given only if the one that far before it has its answer, or will not be
 * sent again. Thread-safe.
 *
 * <p>Every commit passes here, so there is no lock. Strong keyspaces number their writes with
 * {@code RequestNumbers}: there each write says which is the oldest one without an answer, and a
 * group remembers all from that one on.
 */
final class Sequences {
  /** As {@code RecentDecisions} has it. */
  static final int WINDOW = 8192;

  private static final int FREE = 0;
  private static final int TAKEN = 1;
  private static final int MAX_TRIES = 64;

  private final AtomicInteger next = new AtomicInteger();

  /** Whether a number has no answer yet; at the number modulo the window. */
  private final AtomicIntegerArray slots = new AtomicIntegerArray(WINDOW);

  /** The next number; one whose place is taken is passed over. Empty if many in a row are. */
  OptionalInt take() {
    for (int i = 0; i < MAX_TRIES; i++) {
      int sequence = next.getAndIncrement();
      if (slots.compareAndSet(slotOf(sequence), FREE, TAKEN)) {
        return OptionalInt.of(sequence);
      }
    }
    return OptionalInt.empty();
  }

  /** It has its answer, or will not be sent again. */
  void done(int sequence) {
    slots.set(slotOf(sequence), FREE);
  }

  private static int slotOf(int sequence) {
    return sequence & (WINDOW - 1);
  }
}
