// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.IsolationLevel;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/** A client's transaction, as its coordinator and the {@link Checker} know it. */
final class Transaction {
  /** Of one whose writes are staged. */
  static final int PARTS = 3;

  private static final long[] NONE = {};

  final int number;

  /** Null if nobody will ask about it. */
  final UUID id;

  final IsolationLevel level;
  final boolean isBlind;

  /** By row the transaction that wrote what was found. */
  final Map<Long, Integer> reads = new HashMap<>();

  /** Rows that were read to decide whether to write: nobody may change them before it commits. */
  final Set<Long> conditions = new TreeSet<>();

  final Set<Long> writes = new TreeSet<>();
  long start;

  /** 0 until it is known to be committed. */
  long commitTimestamp;

  Transaction(int number, UUID id, IsolationLevel level, boolean isBlind) {
    this.number = number;
    this.id = id;
    this.level = level;
    this.isBlind = isBlind;
  }

  CommitRequest request() {
    return request(true, true);
  }

  /** One that lacks something, by mistake. */
  CommitRequest request(boolean isComplete, boolean hasConditions) {
    long[] checked = array(level == IsolationLevel.SERIALIZABLE ? reads.keySet() : conditions);
    boolean isChecked = level == IsolationLevel.SERIALIZABLE || hasConditions;
    long[] read = isComplete && isChecked ? checked : NONE;
    long[] written = array(writes);
    return new CommitRequest(id, level, start, read, isComplete ? written : NONE, written);
  }

  int totalBytes() {
    return PARTS * part(0).length;
  }

  /** Of the writes, as bytes. */
  byte[] part(int part) {
    return ByteBuffer.allocate(2 * Integer.BYTES).putInt(number).putInt(part).array();
  }

  private static long[] array(Set<Long> rows) {
    return rows.stream().mapToLong(Long::longValue).sorted().toArray();
  }

  @Override
  public String toString() {
    return "t" + number + "@" + start;
  }
}
