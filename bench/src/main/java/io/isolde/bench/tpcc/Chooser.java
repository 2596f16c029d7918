// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.tpcc;

import java.util.SplittableRandom;

/** The random choices of TPC-C (clauses 2.1.6 and 4.3.2), repeatable by a seed. One thread only. */
final class Chooser {
  private static final String[] SYLLABLES = {
    "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"
  };

  private static final int NAMES = 1000;

  /** The constants C of clause 2.1.6.1, the same for the load and the run. */
  private static final int C_OF_NAMES = 123;

  private static final int C_OF_CUSTOMERS = 259;
  private static final int C_OF_ITEMS = 4321;

  private final SplittableRandom random;

  /** Choices that are the same for the same seed. */
  public Chooser(long seed) {
    this.random = new SplittableRandom(seed);
  }

  /** From the first to the last, both included. */
  int between(int first, int last) {
    return random.nextInt(first, last + 1);
  }

  boolean isIn(int percent) {
    return random.nextInt(100) < percent;
  }

  /** Some more often than others, from 1 to n. */
  int customer(int n) {
    return nonUniform(1023, C_OF_CUSTOMERS, n);
  }

  /** Some more often than others, from 1 to n. */
  int item(int n) {
    return nonUniform(8191, C_OF_ITEMS, n);
  }

  /** A last name that some customer of a district has, some more often than others. */
  String lastName(int customers) {
    return lastNameOf(nonUniform(255, C_OF_NAMES, Math.min(customers, NAMES)) - 1);
  }

  /** The name of a number below a thousand: three syllables, one a digit (clause 4.3.2.3). */
  static String lastNameOf(int number) {
    return SYLLABLES[number / 100 % 10] + SYLLABLES[number / 10 % 10] + SYLLABLES[number % 10];
  }

  /** The function NURand of clause 2.1.6, from 1 to n. */
  private int nonUniform(int a, int c, int n) {
    return ((between(0, a) | between(1, n)) + c) % n + 1;
  }

  /** Letters, so many of them. */
  String letters(int length) {
    StringBuilder text = new StringBuilder(length);
    for (int i = 0; i < length; i++) {
      text.append((char) ('a' + random.nextInt(26)));
    }
    return text.toString();
  }

  long next() {
    return random.nextLong();
  }
}
