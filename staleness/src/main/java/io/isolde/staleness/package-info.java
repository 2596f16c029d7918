// SPDX-License-Identifier: Apache-2.0
/**
 * How stale reads of an eventually consistent table are: probabilistically bounded staleness (PBS).
 * Bailis, Venkataraman, Franklin, Hellerstein, Stoica: <i>Probabilistically Bounded Staleness for
 * Practical Partial Quorums</i>, VLDB 2012.
 *
 * <p>A pure core: no Cassandra, clock, thread or hidden random. Times are microseconds. Start with
 * {@link io.isolde.staleness.Predictor} and {@link io.isolde.staleness.DelayModel}.
 */
package io.isolde.staleness;
