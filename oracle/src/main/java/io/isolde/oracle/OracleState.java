// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** All that decides the future answers of a {@link StatusOracle}, except what is open. */
/*
 * The parts are written one after the other, each by itself, behind the number of the format.
 */
final class OracleState {
  /** To be raised with every change of what is written, by any part. */
  private static final int FORMAT = 2;

  final Timestamps timestamps;
  final PendingCommits pending;
  final Counters counters;
  private OracleConfig config;
  private LastCommits lastCommits;
  private Outcomes outcomes;

  /** Only grows; {@code lowWatermark <= stable()}. */
  private long lowWatermark;

  private OracleState(
      OracleConfig config,
      Timestamps timestamps,
      long lowWatermark,
      LastCommits lastCommits,
      PendingCommits pending,
      Outcomes outcomes,
      Counters counters) {
    this.config = config;
    this.timestamps = timestamps;
    this.lowWatermark = lowWatermark;
    this.lastCommits = lastCommits;
    this.pending = pending;
    this.outcomes = outcomes;
    this.counters = counters;
  }

  /** That of an oracle which knows nothing of what was at or below its first timestamp. */
  static OracleState ofNew(OracleConfig config, long firstTimestampMicros) {
    Timestamps timestamps = new Timestamps(firstTimestampMicros);
    return new OracleState(
        config,
        timestamps,
        timestamps.last(),
        new LastCommits(config.maxRows(), timestamps.last()),
        new PendingCommits(config.maxPendingCommits()),
        new Outcomes(config, timestamps.last()),
        new Counters());
  }

  LastCommits lastCommits() {
    return lastCommits;
  }

  Outcomes outcomes() {
    return outcomes;
  }

  long stable() {
    return pending.isHolding()
        ? StatusOracle.newestBefore(pending.smallestHolding())
        : timestamps.last();
  }

  /** Throws unless a timestamp is one that a snapshot may have had: nothing commits below it. */
  void requireIssued(long timestamp, String what) {
    if (timestamp < 0 || timestamp > timestamps.last()) {
      throw new IllegalArgumentException(
          "The " + what + " " + timestamp + " is not between 0 and " + timestamps.last() + ".");
    }
  }

  /** Throws unless a timestamp is that of a snapshot. */
  void requireStable(long timestamp, String what) {
    if (timestamp < 0 || timestamp > stable()) {
      throw new IllegalArgumentException(
          "The " + what + " " + timestamp + " is not between 0 and " + stable() + ", the newest.");
    }
  }

  void followClock(long nowMicros) {
    if (!pending.isHolding()) {
      timestamps.follow(nowMicros);
    }
  }

  long lowWatermark() {
    return lowWatermark;
  }

  /**
   * @param oldestStart of the open transactions, or {@link #stable()}
   */
  void advanceLowWatermark(long oldestStart) {
    long retained = timestamps.last() - config.retentionMicros();
    lowWatermark = Math.max(lowWatermark, Math.min(oldestStart, retained));
    assert lowWatermark <= stable() && stable() <= timestamps.last();
  }

  OracleStatistics statistics(int openTransactions) {
    return new OracleStatistics(
        counters.begun,
        counters.committed,
        counters.readWriteAborts,
        counters.writeWriteAborts,
        counters.forgottenAborts,
        counters.requestedAborts,
        counters.refused,
        pending.size(),
        pending.setAside().size(),
        openTransactions,
        outcomes.size(),
        lastCommits.rows(),
        lastCommits.tmax(),
        stable(),
        lowWatermark,
        timestamps.last());
  }

  /** See {@link StatusOracle#reconfigure}. */
  void reconfigure(OracleConfig newConfig) {
    if (newConfig.maxRows() != config.maxRows()) {
      lastCommits = new LastCommits(newConfig.maxRows(), timestamps.last());
    }
    if (newConfig.maxOutcomes() != config.maxOutcomes()
        || newConfig.outcomeRetentionMicros() != config.outcomeRetentionMicros()) {
      outcomes = outcomes.within(newConfig);
    }
    pending.setMaxPending(newConfig.maxPendingCommits());
    config = newConfig;
  }

  OracleState copy() {
    return new OracleState(
        config,
        timestamps.copy(),
        lowWatermark,
        lastCommits.copy(),
        pending.copy(),
        outcomes.copy(),
        counters.copy());
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeInt(FORMAT);
    config.writeTo(out);
    timestamps.writeTo(out);
    out.writeLong(lowWatermark);
    lastCommits.writeTo(out);
    pending.writeTo(out);
    outcomes.writeTo(out);
    counters.writeTo(out);
  }

  static OracleState readFrom(DataInput in) throws IOException {
    int format = in.readInt();
    if (format != FORMAT) {
      throw new IOException(
          "The oracle's state was saved in format "
              + format
              + ", but this version reads only format "
              + FORMAT
              + ".");
    }
    OracleConfig config = OracleConfig.readFrom(in);
    return new OracleState(
        config,
        Timestamps.readFrom(in),
        in.readLong(),
        LastCommits.readFrom(config.maxRows(), in),
        PendingCommits.readFrom(config.maxPendingCommits(), in),
        Outcomes.readFrom(config, in),
        Counters.readFrom(in));
  }
}
