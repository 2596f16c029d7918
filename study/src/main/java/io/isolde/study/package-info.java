// SPDX-License-Identifier: Apache-2.0
/**
 * The study of staleness. It runs writers and readers against a cluster at each pair of consistency
 * levels, and measures latencies and how stale reads really are. It compares both with what is
 * predicted from the delays that the nodes collect. The questions are those of Rabardeau,
 * Tamborrino and Fattal, <i>Trade-offs between consistency and latency in Apache Cassandra</i>, KTH
 * 2013.
 *
 * <p>{@link io.isolde.study.Study} is the whole; {@link io.isolde.study.live} reads delays from
 * running clusters, also for {@code isolde staleness}.
 */
package io.isolde.study;
