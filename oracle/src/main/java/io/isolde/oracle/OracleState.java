// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** All that decides the future answers of a {@link StatusOracle}. */
/*
 * The parts are written one after the other, each by itself, behind the number of the format. A
 * long after the timestamps is no longer used.
 */
final class OracleState {
  /** To be raised with every change of what is written, by any part. */
  private static final int FORMAT = 3;

  /** The oldest that is read: of which requests the decisions are is not in it. */
  private static final int FORMAT_WITHOUT_REQUESTS = 2;

  /** Stands where earlier builds had what this one does not keep; it did not decide anything. */
  static final long UNUSED = 0;

  final Timestamps timestamps;
  final PendingCommits pending;
  final Counters counters;
  private OracleConfig config;
  private LastCommits lastCommits;
  private Outcomes outcomes;

  private OracleState(
      OracleConfig config,
      Timestamps timestamps,
      LastCommits lastCommits,
      PendingCommits pending,
      Outcomes outcomes,
      Counters counters) {
    this.config = config;
    this.timestamps = timestamps;
    this.lastCommits = lastCommits;
    this.pending = pending;
    this.outcomes = outcomes;
    this.counters = counters;
  }

  /** That of an oracle which has issued and decided nothing. */
  static OracleState ofNew(OracleConfig config) {
    Timestamps timestamps = new Timestamps(0);
    return new OracleState(
        config,
        timestamps,
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

  OracleStatistics statistics() {
    return new OracleStatistics(
        counters.committed,
        counters.readWriteAborts,
        counters.writeWriteAborts,
        counters.forgottenAborts,
        counters.requestedAborts,
        counters.refused,
        pending.size(),
        pending.inDoubt().size(),
        outcomes.size(),
        lastCommits.rows(),
        lastCommits.tmax(),
        stable(),
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
        lastCommits.copy(),
        pending.copy(),
        outcomes.copy(),
        counters.copy());
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeInt(FORMAT);
    config.writeTo(out);
    timestamps.writeTo(out);
    out.writeLong(UNUSED);
    lastCommits.writeTo(out);
    pending.writeTo(out);
    outcomes.writeTo(out);
    counters.writeTo(out);
  }

  static OracleState readFrom(DataInput in) throws IOException {
    int format = in.readInt();
    if (format < FORMAT_WITHOUT_REQUESTS || format > FORMAT) {
      throw new IOException(
          "The oracle's state was saved in format %d, but this build of Isolde reads only %d to %d. %s"
              .formatted(
                  format,
                  FORMAT_WITHOUT_REQUESTS,
                  FORMAT,
                  "Start this node with the build that it ran before, or with a newer one."));
    }
    OracleConfig config = OracleConfig.readFrom(in);
    Timestamps timestamps = Timestamps.readFrom(in);
    var unused = in.readLong();
    return new OracleState(
        config,
        timestamps,
        LastCommits.readFrom(config.maxRows(), in),
        PendingCommits.readFrom(config.maxPendingCommits(), in),
        Outcomes.readFrom(config, format > FORMAT_WITHOUT_REQUESTS, in),
        Counters.readFrom(in));
  }
}
