// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/** The last decisions by transaction id, bounded by count and age; the oldest go first. */
final class Outcomes {
  private final int maxOutcomes;
  private final long retentionMicros;
  private final Map<UUID, Decision> decisions = new HashMap<>();

  /** A ring of the keys of {@code decisions} in order of decision, the first at {@code oldest}. */
  private final UUID[] ids;

  /**
   * The last timestamp issued when each was decided, for a commit its own. Ascends along the ring;
   * an abort shares it with the commit before.
   */
  private final long[] decidedAt;

  private int oldest;
  private long forgottenUpTo;

  /**
   * @param forgottenUpTo decisions at or below this are forgotten already
   */
  Outcomes(OracleConfig config, long forgottenUpTo) {
    this.maxOutcomes = config.maxOutcomes();
    this.retentionMicros = config.outcomeRetentionMicros();
    this.ids = new UUID[maxOutcomes];
    this.decidedAt = new long[maxOutcomes];
    this.forgottenUpTo = forgottenUpTo;
  }

  /** The decision, or null if none is known. */
  Decision get(UUID transactionId) {
    return decisions.get(transactionId);
  }

  void record(UUID transactionId, Decision decision, long timestamp) {
    while (size() == maxOutcomes
        || (size() > 0 && timestamp - decidedAt[oldest] > retentionMicros)) {
      forgetOldest();
    }
    assert size() == 0 || decidedAt[at(size() - 1)] <= timestamp : "decisions come in order";
    int end = at(size());
    ids[end] = transactionId;
    decidedAt[end] = timestamp;
    Decision previous = decisions.put(transactionId, decision);
    assert previous == null : "a transaction is decided once";
  }

  /** Who committed at a timestamp, or null if no longer known. */
  UUID committer(long commitTimestamp) {
    int low = 0;
    int high = size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (decidedAt[at(middle)] < commitTimestamp) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    boolean isKnown = low < size() && decidedAt[at(low)] == commitTimestamp;
    return isKnown ? ids[at(low)] : null;
  }

  /**
   * All decisions forgotten were made at or below this timestamp. A transaction is decided above
   * its start timestamp, so only one that started below this may have a forgotten decision.
   */
  long forgottenUpTo() {
    return forgottenUpTo;
  }

  int size() {
    return decisions.size();
  }

  private void forgetOldest() {
    decisions.remove(ids[oldest]);
    forgottenUpTo = decidedAt[oldest];
    ids[oldest] = null;
    oldest = oldest + 1 == maxOutcomes ? 0 : oldest + 1;
  }

  private int at(int position) {
    int index = oldest + position;
    return index < maxOutcomes ? index : index - maxOutcomes;
  }
}
