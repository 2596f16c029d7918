// SPDX-License-Identifier: Apache-2.0
/**
 * Benchmarks that anybody can run: {@link io.isolde.bench.Benches} lists them.
 *
 * <p>A benchmark is a list of {@link io.isolde.bench.Case}s, which {@link io.isolde.bench.Rounds}
 * run one after the other, round after round, in changing order. What counts are the ratios between
 * a case and its peer in the same round: the peer is stock Cassandra on the same machine, at nearly
 * the same moment, so that both see the same weather.
 */
package io.isolde.bench;
