// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.config.HeapBudget;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Bounds the memory that the writes of this node's transactions take together. Writes count from
 * the statement that buffers them until they are applied, however long that takes: a replica that
 * is slow or gone must cost refusals, not the heap. Thread-safe.
 */
final class CommitMemory {
  /** As objects, encoded for the log, in the request for that, and on the way to the replicas. */
  private static final int COPIES = 4;

  private final long maxBytes;

  /** Never above {@link #maxBytes} with more than one. */
  private final AtomicLong taken = new AtomicLong();

  CommitMemory(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** A part of the heap of this process. */
  static CommitMemory ofThisNode() {
    return new CommitMemory(HeapBudget.ofThisNode().writeBytes());
  }

  /** For writes that are counted elsewhere. */
  static CommitMemory unbounded() {
    return new CommitMemory(Long.MAX_VALUE);
  }

  /** Memory for writes, until nobody holds it any more. */
  final class Share {
    private final long bytes;
    private final AtomicInteger holders = new AtomicInteger(1);

    private Share(long bytes) {
      this.bytes = bytes;
    }

    /** Somebody else needs the writes, too. */
    Share hold() {
      holders.incrementAndGet();
      return this;
    }

    void release() {
      if (holders.decrementAndGet() == 0) {
        give(bytes);
      }
    }
  }

  /**
   * Takes memory for writes of so many bytes, to be released once.
   *
   * @throws IsoldeException ORACLE_OVERLOADED, if there is not so much
   */
  Share share(long writeBytes) {
    take(writeBytes);
    return new Share(writeBytes);
  }

  /**
   * As {@link #share}; {@link #give} gives it back. What is alone may take more than there is: it
   * would never fit.
   *
   * @throws IsoldeException ORACLE_OVERLOADED
   */
  void take(long writeBytes) {
    long bytes = COPIES * writeBytes;
    long now = taken.addAndGet(bytes);
    if (now > maxBytes && now > bytes) {
      taken.addAndGet(-bytes);
      throw IsoldeException.of(
          ErrorCode.ORACLE_OVERLOADED,
          "The writes of open transactions, and of commits that are not applied yet, take all the"
              + " memory that this node has for them; nothing was committed, try again.",
          "limit_bytes",
          maxBytes);
    }
  }

  void give(long writeBytes) {
    long now = taken.addAndGet(-COPIES * writeBytes);
    assert now >= 0 : "given back more than was taken";
  }

  /** What is taken now. */
  long bytes() {
    return taken.get();
  }
}
