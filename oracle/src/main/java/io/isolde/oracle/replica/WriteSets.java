// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/** What is decided and not yet applied, as bytes. Bounded in bytes by who adds. */
final class WriteSets {

  /**
   * The writes of one commit.
   *
   * @param applyAfter as {@link io.isolde.oracle.Decision.Committed#applyAfter}
   */
  @SuppressWarnings("ArrayRecordComponent") // opaque; never compared
  record WriteSet(long applyAfter, byte[] bytes) {}

  /** By commit timestamp. */
  private final TreeMap<Long, WriteSet> pending = new TreeMap<>();

  /** The sum of the lengths of {@code pending}. */
  private long bytes;

  void add(long commitTimestamp, WriteSet writes) {
    if (writes.bytes.length > 0) {
      WriteSet before = pending.put(commitTimestamp, writes);
      assert before == null : "a commit is decided once";
      bytes += writes.bytes.length;
    }
  }

  void remove(long commitTimestamp) {
    WriteSet removed = pending.remove(commitTimestamp);
    if (removed != null) {
      bytes -= removed.bytes.length;
    }
    assert bytes >= 0 && pending.isEmpty() == (bytes == 0);
  }

  /** Null if the commit is applied, or came without. */
  WriteSet get(long commitTimestamp) {
    return pending.get(commitTimestamp);
  }

  long bytes() {
    return bytes;
  }

  SortedMap<Long, WriteSet> all() {
    return Collections.unmodifiableSortedMap(pending);
  }
}
