// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction.barrier;

import io.isolde.version.ConflictUnit;
import java.util.List;
import java.util.UUID;

/**
 * What a node is asked for a change of a table's mode.
 *
 * @param change the change, which no other one interferes with
 * @param coordinator the address of the node that makes it
 * @param leaseMillis how long the barrier stays closed if nobody opens it
 * @param isTransactional what the table is to the coordinator; what the others are to follow
 * @param conflicts what its conflicts are about to the coordinator
 * @param droppedMicros when a column of the table was last dropped, as far as the coordinator knows
 * @param uniqueIndexes the unique indexes that the table has for the coordinator
 * @param upTo the commits that {@link Kind#SECURE} is about, and the beginning of {@link
 *     Kind#BEGIN_ANEW} and {@link Kind#BEGIN_WRITES_ANEW}, in microseconds; 0 for all others
 */
record BarrierRequest(
    Kind kind,
    UUID change,
    UUID table,
    String coordinator,
    long leaseMillis,
    boolean isTransactional,
    ConflictUnit conflicts,
    long droppedMicros,
    List<String> uniqueIndexes,
    long upTo) {

  /** What to do. */
  enum Kind {
    /** Hold back statements on the table, and wait for those under way. */
    CLOSE,
    /** Go on holding them back, also on a node that has just started; wait for nothing. */
    HOLD,
    /** See to it that no commit up to a timestamp is applied here again, should this node die. */
    SECURE,
    /** Finish the lightweight transactions that this node has accepted. */
    FINISH_PAXOS,
    /** Refuse the table to transactions that started before a timestamp. */
    BEGIN_ANEW,
    /** Wait until this node knows the unique indexes; refuse writes of older transactions. */
    BEGIN_WRITES_ANEW,
    /** Write what the table has to disk, and say the newest timestamp of it. */
    NEWEST,
    /** Wait until this node knows what the table is now. */
    FOLLOW,
    /** Let the statements go on. */
    OPEN
  }

  /**
   * The answer.
   *
   * @param isDone false if another change has closed the barrier, or this node has not heard of the
   *     change. Or it can't secure the commits, or finish what Paxos has under way
   * @param newestTimestamp in microseconds; the smallest number if it was not asked for, or there
   *     is nothing
   */
  record Answer(boolean isDone, long newestTimestamp) {
    static final Answer DONE = new Answer(true, Long.MIN_VALUE);
    static final Answer REFUSED = new Answer(false, Long.MIN_VALUE);
  }
}
