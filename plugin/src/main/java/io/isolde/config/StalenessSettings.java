// SPDX-License-Identifier: Apache-2.0
package io.isolde.config;

/**
 * Of what this node measures to predict how stale weak reads are.
 *
 * @param sampleOneIn {@code staleness_sample_one_in}: of so many messages one is timed, to predict
 *     staleness. A power of two; 0 for none. Default 64. Too small: processor time and larger
 *     answers. Too big: wide intervals, or no prediction at all for quiet tables.
 * @param halfLifeMillis {@code staleness_half_life}: after it a delay counts half. Default 5m. Too
 *     small: few delays count, so intervals are wide. Too big: predictions lag behind.
 * @param maxTables {@code staleness_max_tables}: that delays are kept for, those first that are
 *     used first. Default 50; up to 100 KB for each and each rack. Too small: other tables aren't
 *     predicted.
 */
public record StalenessSettings(int sampleOneIn, long halfLifeMillis, int maxTables) {
  private static final int MAX_TABLES = 10_000;

  public StalenessSettings {
    IsoldeConfig.require(
        sampleOneIn == 0 || Integer.bitCount(sampleOneIn) == 1,
        "staleness_sample_one_in must be a power of two, or 0 for none.");
    IsoldeConfig.require(halfLifeMillis >= 1000, "staleness_half_life must be at least 1s.");
    IsoldeConfig.require(
        maxTables >= 1 && maxTables <= MAX_TABLES,
        "staleness_max_tables must be between 1 and 10000.");
  }

  static StalenessSettings of(IsoldeYaml file) {
    return new StalenessSettings(
        file.count("staleness_sample_one_in", 64),
        file.millis("staleness_half_life", "5m"),
        file.count("staleness_max_tables", 50));
  }
}
