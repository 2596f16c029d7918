// SPDX-License-Identifier: Apache-2.0
package io.isolde.history;

import java.util.List;

/**
 * The versions of one key, and who saw which of them.
 *
 * @param order the values in the order in which they replaced, or followed, one another
 * @param seen each read from outside of the own transaction
 */
record KeyVersions(int key, List<Integer> order, List<Seen> seen) {
  /**
   * A transaction read a version.
   *
   * @param position in the order; -1 if there was nothing yet
   */
  record Seen(int transaction, int position) {}
}
