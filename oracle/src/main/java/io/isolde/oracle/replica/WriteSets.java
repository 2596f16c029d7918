// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** What is decided and not yet applied, as bytes. Bounded in bytes by who adds. */
final class WriteSets {

  /**
   * The writes of one commit.
   *
   * @param applyAfter as {@link io.isolde.oracle.Decision.Committed#applyAfter}
   * @param parts that they came in, as a rule one; none if nobody else can apply the commit
   */
  record WriteSet(long applyAfter, List<byte[]> parts) {
    WriteSet {
      parts = List.copyOf(parts);
    }

    private long bytes() {
      return parts.stream().mapToLong(part -> part.length).sum();
    }
  }

  /** By commit timestamp. */
  private final TreeMap<Long, WriteSet> pending = new TreeMap<>();

  /** The sum of the lengths of {@code pending}. */
  private long bytes;

  void add(long commitTimestamp, WriteSet writes) {
    if (!writes.parts.isEmpty()) {
      WriteSet before = pending.put(commitTimestamp, writes);
      assert before == null : "a commit is decided once";
      bytes += writes.bytes();
    }
  }

  void remove(long commitTimestamp) {
    WriteSet removed = pending.remove(commitTimestamp);
    if (removed != null) {
      bytes -= removed.bytes();
    }
    assert bytes >= 0 && pending.isEmpty() == (bytes == 0);
  }

  /** Null if the commit is applied, or came without. */
  WriteSet get(long commitTimestamp) {
    return pending.get(commitTimestamp);
  }

  /** More parts of one that is here. */
  void addParts(long commitTimestamp, List<byte[]> more) {
    WriteSet before = pending.get(commitTimestamp);
    remove(commitTimestamp);
    List<byte[]> all = new ArrayList<>(before.parts);
    all.addAll(more);
    add(commitTimestamp, new WriteSet(before.applyAfter, all));
  }

  long bytes() {
    return bytes;
  }

  SortedMap<Long, WriteSet> all() {
    return Collections.unmodifiableSortedMap(pending);
  }
}
