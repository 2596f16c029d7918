// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness.collect;

import io.isolde.staleness.Place;
import java.util.random.RandomGenerator;

/** Delays as if they had been seen. */
public final class FilledBook {
  private static final int EXCHANGES = 1_000;

  private FilledBook() {}

  /** Of writes that take so long on average, exponentially, and acknowledgements of 100 us. */
  public static DelayBook ofWrites(
      String table, Place replicas, double meanMicros, RandomGenerator random) {
    DelayBook book = new DelayBook(1_000_000_000, 10, () -> 0, name -> true);
    for (int i = 0; i < EXCHANGES; i++) {
      double writeMicros = meanMicros * random.nextExponential();
      book.record(table, replicas, true, new PeerClock.Ways(writeMicros, 100, 1));
    }
    return book;
  }
}
