// SPDX-License-Identifier: Apache-2.0
package io.isolde.testing;

import java.util.stream.LongStream;

/**
 * The seeds of a randomised test: some that are always the same, one that is always new, and the
 * only one if the system property {@code isolde.seed} names it. A failing test is named after its
 * seed.
 */
public final class Seeds {
  private Seeds() {}

  public static LongStream fixedAndFresh(int fixed) {
    String only = System.getProperty("isolde.seed");
    return only != null
        ? LongStream.of(Long.parseLong(only))
        : LongStream.concat(LongStream.range(0, fixed), LongStream.of(System.nanoTime()));
  }
}
