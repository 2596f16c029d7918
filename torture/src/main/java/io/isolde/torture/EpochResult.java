// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import java.util.List;
import java.util.Map;

/**
 * What came of an epoch.
 *
 * @param workload what clients did
 * @param level the isolation level
 * @param faults what happened, in order
 * @param committed transactions that are known to be committed
 * @param aborted those that are known not to be
 * @param unknown those of which the clients were not told
 * @param errors how often which error came
 * @param longestGapMillis the longest time in which nobody committed
 * @param isReadToTheEnd whether all could be read when it was over
 * @param violations what must not be
 */
public record EpochResult(
    int number,
    String workload,
    String level,
    List<String> faults,
    int committed,
    int aborted,
    int unknown,
    Map<String, Integer> errors,
    long longestGapMillis,
    boolean isReadToTheEnd,
    List<String> violations) {}
