// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness.collect;

/**
 * What was seen of a leg.
 *
 * @param observations that count still
 * @param uncertaintyMicros of the clocks
 * @param histogram the whole of it, for {@link io.isolde.staleness.DelayHistogram#decoded}
 */
public record SeenLeg(
    long observations,
    double p50Micros,
    double p99Micros,
    double uncertaintyMicros,
    String histogram) {}
