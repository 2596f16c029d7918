// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import java.util.ArrayList;
import java.util.List;

/**
 * What clients saw while a setting was measured: at most what {@link Episodes.Limits} lets them
 * see. Thread-safe.
 */
final class Seen {
  /**
   * A read.
   *
   * @param afterMicros from the arrival of the last write's answer to the sending of the read
   * @param versionsBehind 0 if it saw the last write
   * @param isOfSeveral whether the row was written several times, just before
   * @param atMillis when it was sent, from the start of the measurement
   */
  record Read(
      double afterMicros,
      int versionsBehind,
      boolean isOfSeveral,
      double latencyMicros,
      long atMillis) {}

  /** A write, likewise. */
  record Write(double latencyMicros, long atMillis) {}

  private final List<Read> reads = new ArrayList<>();
  private final List<Write> writes = new ArrayList<>();
  private final List<Double> roundTrips = new ArrayList<>();
  private final List<Double> intervals = new ArrayList<>();
  private final List<Long> errorsAtMillis = new ArrayList<>();
  private String firstError;
  private long rowsLeftOut;
  private int seconds;

  synchronized void read(Read read) {
    reads.add(read);
  }

  synchronized void write(Write write) {
    writes.add(write);
  }

  synchronized void roundTrip(double micros) {
    roundTrips.add(micros);
  }

  /** From the start of a version's write to that of the next. */
  synchronized void interval(double micros) {
    intervals.add(micros);
  }

  synchronized void error(Throwable error, long atMillis) {
    errorsAtMillis.add(atMillis);
    firstError = firstError == null ? error.toString() : firstError;
  }

  /** A row was due and not written, since there were too many already. */
  synchronized void rowLeftOut() {
    rowsLeftOut++;
  }

  /** The load has run for so long. */
  synchronized void ranFor(int seconds) {
    this.seconds = seconds;
  }

  synchronized List<Read> reads() {
    return List.copyOf(reads);
  }

  synchronized List<Write> writes() {
    return List.copyOf(writes);
  }

  synchronized double[] roundTrips() {
    return roundTrips.stream().mapToDouble(each -> each).toArray();
  }

  synchronized double meanIntervalMicros() {
    return intervals.stream().mapToDouble(each -> each).average().orElse(0);
  }

  synchronized List<Long> errorsAtMillis() {
    return List.copyOf(errorsAtMillis);
  }

  synchronized String firstError() {
    return firstError;
  }

  synchronized long rowsLeftOut() {
    return rowsLeftOut;
  }

  synchronized int seconds() {
    return seconds;
  }
}
