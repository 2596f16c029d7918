// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

/**
 * Delays that were seen, the old ones counting less and less: all counts are halved every
 * half-life. From 1 microsecond to 2 minutes with an error below 1%, in at most 24 KiB. Not
 * thread-safe.
 */
public final class DelayHistogram {
  private static final long MAX_MICROS = 120_000_000;
  private static final int DIGITS = 2;

  /** What one observation counts at first: so it is halved four times before it is gone. */
  private static final int FRESH = 16;

  private final long halfLifeMillis;
  private Histogram counts = empty();
  private long halvedAtMillis;

  /**
   * Makes an empty one.
   *
   * @param halfLifeMillis after which an observation counts half
   * @param nowMillis by any clock that goes on steadily
   */
  public DelayHistogram(long halfLifeMillis, long nowMillis) {
    this.halfLifeMillis = halfLifeMillis;
    this.halvedAtMillis = nowMillis;
  }

  private static Histogram empty() {
    Histogram histogram = new Histogram(1, MAX_MICROS, DIGITS);
    histogram.setAutoResize(false);
    return histogram;
  }

  /** Counts a delay; what is out of range counts as the nearest that isn't. */
  public void record(double micros, long nowMillis) {
    decay(nowMillis);
    long whole = Math.round(Math.max(0, Math.min(MAX_MICROS, micros)));
    counts.recordValueWithCount(whole, FRESH);
  }

  private void decay(long nowMillis) {
    long halvings = (nowMillis - halvedAtMillis) / halfLifeMillis;
    if (halvings <= 0) {
      return;
    }
    halvedAtMillis += halvings * halfLifeMillis;
    Histogram halved = empty();
    if (halvings < Long.SIZE) {
      for (HistogramIterationValue bucket : counts.recordedValues()) {
        long left = bucket.getCountAddedInThisIterationStep() >> halvings;
        if (left > 0) {
          halved.recordValueWithCount(bucket.getValueIteratedTo(), left);
        }
      }
    }
    counts = halved;
  }

  /** How many observations count still, as fresh ones. */
  public long observations(long nowMillis) {
    decay(nowMillis);
    return counts.getTotalCount() / FRESH;
  }

  /** The quantile, between 0 and 1, in microseconds; 0 if nothing was seen. */
  public long quantileMicros(double quantile) {
    return counts.getValueAtPercentile(100 * quantile);
  }

  /** Which share of the delays was at most so long; 0 if nothing was seen. */
  public double shareUpTo(double micros) {
    long whole = (long) Math.max(0, Math.min(MAX_MICROS, micros));
    long all = counts.getTotalCount();
    return all == 0 ? 0 : (double) counts.getCountBetweenValues(0, whole) / all;
  }

  /** A text for {@link #decoded}. */
  public String encoded() {
    ByteBuffer buffer = ByteBuffer.allocate(counts.getNeededByteBufferCapacity());
    int bytes = counts.encodeIntoCompressedByteBuffer(buffer);
    byte[] written = new byte[bytes];
    buffer.flip();
    buffer.get(written);
    return Base64.getEncoder().encodeToString(written);
  }

  /**
   * Makes one distribution of several histograms' texts.
   *
   * @throws IllegalArgumentException if one is not the text of a histogram, or all are empty
   */
  public static ObservedDelay decoded(List<String> texts) {
    Histogram all = empty();
    for (String text : texts) {
      try {
        ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder().decode(text));
        all.add(Histogram.decodeFromCompressedByteBuffer(bytes, 0));
      } catch (DataFormatException e) {
        throw new IllegalArgumentException("This is not a histogram of delays: " + text, e);
      }
    }
    return distribution(all);
  }

  /** What was seen, as a distribution; at least one observation must count still. */
  public ObservedDelay toDelay() {
    return distribution(counts);
  }

  private static ObservedDelay distribution(Histogram counts) {
    List<double[]> buckets = new ArrayList<>();
    for (HistogramIterationValue bucket : counts.recordedValues()) {
      long value = bucket.getValueIteratedTo();
      buckets.add(
          new double[] {
            counts.lowestEquivalentValue(value),
            // The histogram rounds to whole microseconds.
            counts.highestEquivalentValue(value) + 1,
            bucket.getCountAddedInThisIterationStep()
          });
    }
    return ObservedDelay.ofBuckets(
        buckets.stream().mapToDouble(bucket -> Math.max(0, bucket[0] - 0.5)).toArray(),
        buckets.stream().mapToDouble(bucket -> bucket[1] - 0.5).toArray(),
        buckets.stream().mapToDouble(bucket -> bucket[2]).toArray(),
        counts.getTotalCount() / FRESH);
  }
}
