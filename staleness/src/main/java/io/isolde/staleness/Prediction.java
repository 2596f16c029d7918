// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

/** What is to be expected of reads and writes at one {@link Setting}. Times are microseconds. */
public final class Prediction {
  private final boolean isStrong;
  private final Sorted visible;
  private final Sorted visibleAtBest;
  private final Sorted visibleAtWorst;
  private final Sorted reads;
  private final Sorted writes;

  Prediction(
      boolean isStrong,
      Sorted visible,
      Sorted visibleAtBest,
      Sorted visibleAtWorst,
      Sorted reads,
      Sorted writes) {
    this.isStrong = isStrong;
    this.visible = visible;
    this.visibleAtBest = visibleAtBest;
    this.visibleAtWorst = visibleAtWorst;
    this.reads = reads;
    this.writes = writes;
  }

  /** Whether the replicas read and those written overlap always, so that no read is stale. */
  public boolean isStrong() {
    return isStrong;
  }

  /**
   * t-visibility: the probability that a read sees a write that was acknowledged so long before.
   * The interval is for the number of trials or observations, whichever is smaller, and for what is
   * not known of the clocks.
   */
  public Estimate freshAfter(double micros) {
    if (isStrong) {
      return Estimate.exact(1);
    }
    return visible
        .shareUpTo(micros)
        .spanning(visibleAtWorst.shareUpTo(micros))
        .spanning(visibleAtBest.shareUpTo(micros));
  }

  /** How long after the acknowledgement of a write reads see it with that probability. */
  public Estimate visibilityMicros(double probability) {
    if (isStrong) {
      return Estimate.exact(0);
    }
    return visible
        .quantile(probability)
        .spanning(visibleAtWorst.quantile(probability))
        .spanning(visibleAtBest.quantile(probability));
  }

  /** A quantile of how long the coordinator takes for a read. */
  public Estimate readMicros(double quantile) {
    return reads.quantile(quantile);
  }

  /** A quantile of how long the coordinator takes for a write. */
  public Estimate writeMicros(double quantile) {
    return writes.quantile(quantile);
  }
}
