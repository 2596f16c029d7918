// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * The moments of a transaction that it can go back to. What it wrote since is taken back then; what
 * it read stays read, since its client has seen it. Thread-safe and bounded.
 */
final class Savepoints {
  static final int MAX_SAVEPOINTS = 100;

  private final UUID transactionId;
  private final WriteBuffer writes;

  /** Oldest first. */
  private final Map<String, WriteBuffer.Mark> marks = new LinkedHashMap<>();

  Savepoints(UUID transactionId, WriteBuffer writes) {
    this.transactionId = transactionId;
    this.writes = writes;
  }

  /**
   * Sets one. An older one of the same name is gone, as in SQL.
   *
   * @throws IsoldeException TRANSACTION_TOO_LARGE, if there are as many as there may be
   */
  synchronized void set(String name) {
    if (marks.remove(name) == null && marks.size() == MAX_SAVEPOINTS) {
      throw IsoldeException.of(
          ErrorCode.TRANSACTION_TOO_LARGE,
          "The transaction has "
              + MAX_SAVEPOINTS
              + " savepoints, as many as it may have; RELEASE some of them.",
          "transaction",
          transactionId);
    }
    marks.put(name, writes.mark());
  }

  /**
   * Takes back what was written since. It stays; those that were set after it are gone.
   *
   * @throws IsoldeException SAVEPOINT_NOT_FOUND
   */
  synchronized void backTo(String name) {
    WriteBuffer.Mark mark = releaseFrom(name);
    marks.put(name, mark);
    writes.backTo(mark);
  }

  /**
   * Forgets one, and those that were set after it. What was written stays.
   *
   * @throws IsoldeException SAVEPOINT_NOT_FOUND
   */
  synchronized void release(String name) {
    WriteBuffer.Mark unused = releaseFrom(name);
    if (marks.isEmpty()) {
      writes.forgetMarks();
    }
  }

  private WriteBuffer.Mark releaseFrom(String name) {
    List<String> names = new ArrayList<>(marks.keySet());
    int first = names.indexOf(name);
    if (first < 0) {
      throw IsoldeException.of(
          ErrorCode.SAVEPOINT_NOT_FOUND,
          "The transaction has no savepoint "
              + name
              + ": it was not set, or released, or the transaction went back to one before it.",
          "transaction",
          transactionId,
          "savepoint",
          name);
    }
    WriteBuffer.Mark mark = marks.get(name);
    marks.keySet().removeAll(names.subList(first, names.size()));
    return mark;
  }

  synchronized boolean isEmpty() {
    return marks.isEmpty();
  }
}
