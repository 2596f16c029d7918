// SPDX-License-Identifier: Apache-2.0
/**
 * How benchmarks measure and report. A {@link io.isolde.bench.kit.Benchmark} has {@link
 * io.isolde.bench.kit.Cases}, which {@link io.isolde.bench.kit.Rounds} run one after the other,
 * round after round, in changing order.
 *
 * <p>What counts are the ratios between a case and its peer in the same round. The peer runs on the
 * same machine at nearly the same moment, so that both see the same weather.
 */
package io.isolde.bench.kit;
