// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import java.util.Arrays;

/** An invariant does not hold. */
final class Broken extends AssertionError {
  private static final long serialVersionUID = 1;

  private Broken(String message) {
    super(message);
  }

  static void unless(boolean holds, String invariant, Object... details) {
    if (!holds) {
      throw new Broken("Not so: " + invariant + ". " + Arrays.deepToString(details));
    }
  }
}
