// SPDX-License-Identifier: Apache-2.0
package io.isolde.config;

/**
 * The one place that says which parts of a node's heap go to what. What a part is for refuses, or
 * lets go, what does not fit: see {@code docs/operating.md}, Memory.
 */
/*
 * Cassandra takes the greater half: memtables a quarter, requests of clients a tenth, the key cache
 * a twentieth. All of ours together must leave it that, see the test.
 */
public record HeapBudget(long heapBytes) {
  private static final long MIB = 1L << 20;
  private static final int PART_FOR_WRITES = 16;
  private static final int PART_FOR_VERSIONS = 8;
  private static final int PART_FOR_WAITING = 32;
  private static final int PART_FOR_LOG_FILE = 64;
  private static final int PART_FOR_OUTBOUND_QUEUES = 64;
  private static final int HEAP_BYTES_PER_ROW = 2048;
  private static final int HEAP_BYTES_PER_OUTCOME = 8192;
  private static final int MAX_ROWS = 1_000_000;
  private static final int MAX_OUTCOMES = 250_000;

  /** Of the heap of this process. */
  public static HeapBudget ofThisNode() {
    return new HeapBudget(Runtime.getRuntime().maxMemory());
  }

  /** For the writes of open transactions, and of commits until they are applied. */
  public long writeBytes() {
    return heapBytes / PART_FOR_WRITES;
  }

  /** For the writes of one transaction: each byte counts four times. */
  public long transactionBytes() {
    return Math.max(4 * MIB, Math.min(64 * MIB, writeBytes() / 4));
  }

  /** For the writes that the oracle's members keep of commits that are decided and not applied. */
  public long decidedBytes() {
    return heapBytes / PART_FOR_WAITING;
  }

  /** For what waits for one log: the oracle's, or that of a replica group. */
  public long waitingBytes() {
    return heapBytes / PART_FOR_WAITING;
  }

  /** For one of the three files of a log that stay in memory. */
  public long logFileBytes() {
    return heapBytes / PART_FOR_LOG_FILE;
  }

  /** For what is on its way to all replicas over outbound queues. */
  public long outboundBytes() {
    return heapBytes / PART_FOR_OUTBOUND_QUEUES;
  }

  /** For what waits for the logs of all replica groups of one durability. */
  public long groupQueueBytes() {
    return heapBytes / PART_FOR_WAITING;
  }

  /** For replaced cells; below the minimum hardly a reader would be served. */
  public long versionBytes() {
    return Math.max(64 * MIB, heapBytes / PART_FOR_VERSIONS);
  }

  /**
   * How many last commits the oracle remembers, which are 18 to 37 bytes each, and twice as many
   * while they are saved. A power of two if it is not all: members whose heaps differ a little must
   * agree, or all is forgotten when another one leads.
   */
  public int oracleRows() {
    return (int) Math.min(MAX_ROWS, powerOfTwo(heapBytes / HEAP_BYTES_PER_ROW));
  }

  /** How many outcomes the oracle keeps, of 65 to 85 bytes; otherwise as {@link #oracleRows}. */
  public int oracleOutcomes() {
    return (int) Math.min(MAX_OUTCOMES, powerOfTwo(heapBytes / HEAP_BYTES_PER_OUTCOME));
  }

  /** Changes a ninth below each power of two, and not at the sizes that heaps have. */
  private static long powerOfTwo(long number) {
    return Long.highestOneBit(number + number / 8);
  }
}
