// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

/**
 * How a coordinator asks the oracle.
 *
 * @param timeoutMillis how long a request may ride through changes of leaders. Default: 5 s. Too
 *     small: errors during an election, which takes up to 2 s if the leader is cut off. Too big:
 *     clients wait longer for an error
 * @param maxOutstanding requests without an answer. Default: 8192. Too small: refused at peaks. Too
 *     big: not more than {@code RecentDecisions} remembers, so 8192 at most
 * @param suspicionMillis how long a leader may leave requests unanswered before the others are
 *     asked whether they lead. Default: 200 ms. Too small: needless questions. Too big: a leader
 *     that hangs is left late
 */
public record OracleClientConfig(long timeoutMillis, int maxOutstanding, long suspicionMillis) {
  private static final int MAX_OUTSTANDING = 8192;

  public OracleClientConfig {
    if (timeoutMillis < 10 || suspicionMillis < 10) {
      throw new IllegalArgumentException("The times of a client must be at least 10 ms.");
    }
    if (maxOutstanding < 1 || maxOutstanding > MAX_OUTSTANDING) {
      throw new IllegalArgumentException(
          "The requests outstanding must be between 1 and " + MAX_OUTSTANDING + ".");
    }
  }

  public static OracleClientConfig defaults() {
    return new OracleClientConfig(5_000, MAX_OUTSTANDING, 200);
  }

  public OracleClientConfig withTimeoutMillis(long millis) {
    return new OracleClientConfig(millis, maxOutstanding, suspicionMillis);
  }
}
