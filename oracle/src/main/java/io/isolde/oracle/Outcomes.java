// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.UUID;

/** The last decisions by transaction id, bounded by count and age; the oldest go first. */
/*
 * A decision takes six longs: both halves of the id, when it was decided, applyAfter, and the
 * session and the sequence number of the request that was decided. When it was decided also tells
 * how: a commit at its own timestamp, which is even; an abort at the odd one after the last that
 * was issued. So decisions ascend along the ring, and a transaction that started at the last
 * timestamp before its abort is known to have started before its decision.
 */
final class Outcomes {
  private static final int DECISION_LONGS = 6;

  /** Without session and sequence number, as {@link OracleState#FORMAT_WITHOUT_REQUESTS} has it. */
  private static final int DECISION_LONGS_WITHOUT_REQUEST = 4;

  /** Of a decision that an earlier build made, which did not keep whose it was. */
  private static final long UNKNOWN_SESSION = -1;

  private static final int LEAST_SIGNIFICANT_BITS = 1;
  private static final int DECIDED_AT = 2;
  private static final int APPLY_AFTER = 3;
  private static final int SESSION = 4;
  private static final int SEQUENCE = 5;

  private final int maxOutcomes;
  private final long retentionMicros;

  /** A ring in order of decision, the first at position {@code oldest}. */
  private final long[] decisions;

  /** By position: why it was aborted, or null. */
  private final Conflict[] conflicts;

  /** Has the position of each decision. */
  private final OutcomeIndex index;

  private int oldest;
  private int size;

  /** Only grows. */
  private long forgottenUpTo;

  /**
   * @param forgottenUpTo decisions at or below this are forgotten already
   */
  Outcomes(OracleConfig config, long forgottenUpTo) {
    maxOutcomes = config.maxOutcomes();
    retentionMicros = config.outcomeRetentionMicros();
    decisions = new long[DECISION_LONGS * maxOutcomes];
    conflicts = new Conflict[maxOutcomes];
    index = new OutcomeIndex(maxOutcomes);
    this.forgottenUpTo = forgottenUpTo;
  }

  private Outcomes(Outcomes other) {
    maxOutcomes = other.maxOutcomes;
    retentionMicros = other.retentionMicros;
    decisions = other.decisions.clone();
    conflicts = other.conflicts.clone();
    index = other.index.copy();
    oldest = other.oldest;
    size = other.size;
    forgottenUpTo = other.forgottenUpTo;
  }

  /** The decision, or null if none is known. */
  Decision get(UUID transactionId) {
    int position = find(transactionId);
    if (position == OutcomeIndex.NONE) {
      return null;
    }
    return conflicts[position] == null
        ? new Decision.Committed(decidedAt(position), applyAfter(position))
        : new Decision.Aborted(conflicts[position]);
  }

  /**
   * Whether it was this request that was decided, or there was none: an abort that somebody asked
   * for holds for every request of the transaction. Nor does a repetition of a request that an
   * earlier build decided get another answer: that one gave all of them its decision.
   *
   * @param transactionId of a decision that is known
   */
  boolean isOf(UUID transactionId, long session, int sequence) {
    int position = find(transactionId);
    return (conflicts[position] != null && conflicts[position].kind() == Conflict.Kind.REQUESTED)
        || session(position) == UNKNOWN_SESSION
        || (session(position) == session && sequence(position) == sequence);
  }

  boolean contains(UUID transactionId) {
    return find(transactionId) != OutcomeIndex.NONE;
  }

  void recordCommit(UUID transactionId, Decision.Committed committed, long session, int sequence) {
    record(
        transactionId.getMostSignificantBits(),
        transactionId.getLeastSignificantBits(),
        committed.commitTimestamp(),
        committed.applyAfter(),
        session,
        sequence,
        null);
  }

  /**
   * @param lastTimestamp the last that was issued to anyone
   */
  void recordAbort(
      UUID transactionId, Conflict conflict, long lastTimestamp, long session, int sequence) {
    record(
        transactionId.getMostSignificantBits(),
        transactionId.getLeastSignificantBits(),
        lastTimestamp + 1,
        0,
        session,
        sequence,
        conflict);
  }

  private void record(
      long most,
      long least,
      long decidedAt,
      long applyAfter,
      long session,
      long sequence,
      Conflict conflict) {
    while (size == maxOutcomes || (size > 0 && decidedAt - decidedAt(oldest) > retentionMicros)) {
      forgetOldest();
    }
    assert size == 0 || decidedAt(at(size - 1)) <= decidedAt : "decisions come in order";
    assert find(most, least) == OutcomeIndex.NONE : "a transaction is decided once";
    int position = at(size);
    int first = DECISION_LONGS * position;
    decisions[first] = most;
    decisions[first + LEAST_SIGNIFICANT_BITS] = least;
    decisions[first + DECIDED_AT] = decidedAt;
    decisions[first + APPLY_AFTER] = applyAfter;
    decisions[first + SESSION] = session;
    decisions[first + SEQUENCE] = sequence;
    conflicts[position] = conflict;
    assert isCommit(decidedAt) == (conflict == null);
    index.add(OutcomeIndex.hash(most, least), position);
    size++;
  }

  /** Who committed at a timestamp, or null if no longer known. */
  UUID committer(long commitTimestamp) {
    int low = 0;
    int high = size;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (decidedAt(at(middle)) < commitTimestamp) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    boolean isKnown = low < size && decidedAt(at(low)) == commitTimestamp;
    return isKnown ? new UUID(most(at(low)), least(at(low))) : null;
  }

  /**
   * All decisions forgotten were made at or below this timestamp. A transaction is decided above
   * its start timestamp, so only one that started below this may have a forgotten decision.
   */
  long forgottenUpTo() {
    return forgottenUpTo;
  }

  int size() {
    return size;
  }

  /** The same within other bounds; what exceeds them is forgotten, the oldest first. */
  Outcomes within(OracleConfig config) {
    Outcomes result = new Outcomes(config, forgottenUpTo);
    for (int i = 0; i < size; i++) {
      int from = at(i);
      result.record(
          most(from),
          least(from),
          decidedAt(from),
          applyAfter(from),
          session(from),
          sequence(from),
          conflicts[from]);
    }
    return result;
  }

  Outcomes copy() {
    return new Outcomes(this);
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeLong(forgottenUpTo);
    out.writeInt(size);
    int untilEnd = Math.min(size, maxOutcomes - oldest);
    LongArrays.write(decisions, DECISION_LONGS * oldest, DECISION_LONGS * untilEnd, out);
    LongArrays.write(decisions, 0, DECISION_LONGS * (size - untilEnd), out);
    for (int i = 0; i < size; i++) {
      if (!isCommit(decidedAt(at(i)))) {
        conflicts[at(i)].writeTo(out);
      }
    }
  }

  /**
   * @param config as it was when this was written
   * @param hasRequests whether it was written with the requests that were decided
   */
  static Outcomes readFrom(OracleConfig config, boolean hasRequests, DataInput in)
      throws IOException {
    Outcomes outcomes = new Outcomes(config, in.readLong());
    outcomes.size = in.readInt();
    if (hasRequests) {
      LongArrays.read(outcomes.decisions, 0, DECISION_LONGS * outcomes.size, in);
    } else {
      outcomes.readWithoutRequests(in);
    }
    for (int position = 0; position < outcomes.size; position++) {
      outcomes.index.add(outcomes.hashAt(position), position);
      if (!isCommit(outcomes.decidedAt(position))) {
        outcomes.conflicts[position] = Conflict.readFrom(in);
      }
    }
    return outcomes;
  }

  private void readWithoutRequests(DataInput in) throws IOException {
    long[] read = new long[DECISION_LONGS_WITHOUT_REQUEST * size];
    LongArrays.read(read, 0, read.length, in);
    for (int position = 0; position < size; position++) {
      int from = DECISION_LONGS_WITHOUT_REQUEST * position;
      int to = DECISION_LONGS * position;
      System.arraycopy(read, from, decisions, to, DECISION_LONGS_WITHOUT_REQUEST);
      decisions[to + SESSION] = UNKNOWN_SESSION;
    }
  }

  private static boolean isCommit(long decidedAt) {
    return decidedAt % Timestamps.STEP == 0;
  }

  private int find(UUID transactionId) {
    return find(transactionId.getMostSignificantBits(), transactionId.getLeastSignificantBits());
  }

  private int find(long most, long least) {
    int hash = OutcomeIndex.hash(most, least);
    int place = index.first(hash);
    while (place != OutcomeIndex.NONE) {
      int position = index.positionAt(place);
      if (most(position) == most && least(position) == least) {
        return position;
      }
      place = index.next(hash, place);
    }
    return OutcomeIndex.NONE;
  }

  private void forgetOldest() {
    index.remove(hashAt(oldest), oldest);
    assert decidedAt(oldest) >= forgottenUpTo : "decisions are forgotten in order";
    forgottenUpTo = decidedAt(oldest);
    oldest = oldest + 1 == maxOutcomes ? 0 : oldest + 1;
    size--;
  }

  private int at(int number) {
    int position = oldest + number;
    return position < maxOutcomes ? position : position - maxOutcomes;
  }

  private int hashAt(int position) {
    return OutcomeIndex.hash(most(position), least(position));
  }

  private long most(int position) {
    return decisions[DECISION_LONGS * position];
  }

  private long least(int position) {
    return decisions[DECISION_LONGS * position + LEAST_SIGNIFICANT_BITS];
  }

  private long decidedAt(int position) {
    return decisions[DECISION_LONGS * position + DECIDED_AT];
  }

  private long session(int position) {
    return decisions[DECISION_LONGS * position + SESSION];
  }

  private long sequence(int position) {
    return decisions[DECISION_LONGS * position + SEQUENCE];
  }

  private long applyAfter(int position) {
    return decisions[DECISION_LONGS * position + APPLY_AFTER];
  }
}
