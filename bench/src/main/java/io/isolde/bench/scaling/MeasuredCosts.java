// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.scaling;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a real group of three pays on this machine.
 *
 * @param follower what each of them pays; it gives no start timestamps
 * @param busiestThreadShare of the leader's processor time: that of one thread, which no further
 *     core makes faster
 * @param sessionMicrosPerSecond what the leader pays for an open session of a coordinator that does
 *     nothing
 * @param commitMicros from the request of one commit to its answer, while nothing else goes on
 */
record MeasuredCosts(
    Costs leader,
    Costs follower,
    double busiestThreadShare,
    double sessionMicrosPerSecond,
    double commitMicros) {

  /** Returns the numbers by their names in a report. */
  Map<String, Double> metrics() {
    Map<String, Double> metrics = new LinkedHashMap<>();
    put(metrics, "leader_", leader);
    put(metrics, "follower_", follower);
    metrics.put("leader_begin_us", leader.begin());
    metrics.put("leader_busiest_thread_share", busiestThreadShare);
    metrics.put("leader_session_us_per_s", sessionMicrosPerSecond);
    metrics.put("commit_alone_us", commitMicros);
    return metrics;
  }

  private static void put(Map<String, Double> metrics, String prefix, Costs costs) {
    metrics.put(prefix + "entry_us", costs.entry());
    metrics.put(prefix + "commit_us", costs.commit());
    metrics.put(prefix + "row_us", costs.row());
    metrics.put(prefix + "kib_us", costs.kibibyte());
  }
}
