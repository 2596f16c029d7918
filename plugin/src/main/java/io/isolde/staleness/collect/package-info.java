// SPDX-License-Identifier: Apache-2.0
/**
 * Collects the one-way delays of writes and reads from the messages between nodes, for some of
 * them. {@link io.isolde.staleness.collect.MessageTap} sees the messages. A replica puts the times
 * of arrival and answer on its answer to a sampled request. The coordinator knows when it sent the
 * request and got the answer. From these times it works out both clocks' offset and the four
 * delays. Both sample the same messages, by their ids, so requests carry nothing.
 *
 * <p>The creation time that Cassandra's messages carry is of no use for this: whole milliseconds,
 * of a clock that is read every 2 ms.
 */
package io.isolde.staleness.collect;
