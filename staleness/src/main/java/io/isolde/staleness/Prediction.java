// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

/** What is to be expected of reads and writes at one {@link Setting}. Times are microseconds. */
public final class Prediction {
  private final boolean isStrong;
  private final Visibility visible;
  private final Sorted reads;
  private final Sorted writes;

  Prediction(boolean isStrong, Visibility visible, Sorted reads, Sorted writes) {
    this.isStrong = isStrong;
    this.visible = visible;
    this.reads = reads;
    this.writes = writes;
  }

  /** Whether the replicas read and those written overlap always, so that no read is stale. */
  public boolean isStrong() {
    return isStrong;
  }

  /**
   * t-visibility: the probability that a read sees a write that was acknowledged so long before.
   */
  public Estimate freshAfter(double micros) {
    return visible.after(micros);
  }

  /** How long after the acknowledgement of a write reads see it with that probability. */
  public Estimate visibilityMicros(double probability) {
    return visible.micros(probability);
  }

  /**
   * A quantile of how long the coordinator takes for a read. It timed round trips by its own clock,
   * so what is not known of others' does not matter, and is not in the interval.
   */
  public Estimate readMicros(double quantile) {
    return reads.quantile(quantile);
  }

  /** The same of a write. */
  public Estimate writeMicros(double quantile) {
    return writes.quantile(quantile);
  }
}
