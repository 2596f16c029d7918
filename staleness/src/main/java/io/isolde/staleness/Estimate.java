// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

/**
 * A number and where it may lie.
 *
 * @param low lower end of the 95% interval
 * @param high upper end
 */
public record Estimate(double value, double low, double high) {

  /** The quantile of the normal distribution for 95%. */
  private static final double Z = 1.959963984540054;

  /** A number that is known. */
  public static Estimate exact(double value) {
    return new Estimate(value, value, value);
  }

  /**
   * A probability of which a share was seen: the score interval of E. B. Wilson, "Probable
   * inference, the law of succession, and statistical inference", 1927. It holds for shares near 0
   * and 1, too.
   *
   * @param share of the trials in which it happened
   * @param trials how many independent ones
   */
  public static Estimate ofShare(double share, double trials) {
    double z2 = Z * Z / trials;
    double centre = (share + z2 / 2) / (1 + z2);
    double half = Z / (1 + z2) * Math.sqrt(share * (1 - share) / trials + z2 / (4 * trials));
    return new Estimate(
        share,
        Math.min(share, Math.max(0, centre - half)),
        Math.max(share, Math.min(1, centre + half)));
  }

  /** In another unit. */
  public Estimate times(double factor) {
    return new Estimate(factor * value, factor * low, factor * high);
  }

  /** The same number, with an interval that holds that of the other, too. */
  public Estimate spanning(Estimate other) {
    return new Estimate(value, Math.min(low, other.low), Math.max(high, other.high));
  }
}
