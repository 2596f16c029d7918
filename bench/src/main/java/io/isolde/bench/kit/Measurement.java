// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import java.util.Optional;

/**
 * How a case went in one round.
 *
 * @param operations answered before the time was over
 * @param meanMillis from sending a request to its answer, of those sent before the time was over
 * @param p50Millis the median of the same
 * @param p99Millis the 99th percentile of the same
 * @param errors requests that failed or were answered wrongly
 * @param firstError one of them, in words
 */
public record Measurement(
    long operations,
    double operationsPerSecond,
    double meanMillis,
    double p50Millis,
    double p99Millis,
    long errors,
    Optional<String> firstError) {}
