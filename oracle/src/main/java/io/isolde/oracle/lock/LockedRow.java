// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.lock;

import java.util.LinkedHashSet;
import java.util.UUID;

/** A row that a transaction has, and those that wait for it. */
final class LockedRow {
  UUID holder;
  final LinkedHashSet<UUID> queue = new LinkedHashSet<>();

  LockedRow(UUID holder) {
    this.holder = holder;
  }

  /** The last one before a transaction in the queue; of all, if it is not there. */
  UUID before(UUID transaction) {
    UUID before = holder;
    for (UUID waiting : queue) {
      if (waiting.equals(transaction)) {
        return before;
      }
      before = waiting;
    }
    return before;
  }
}
