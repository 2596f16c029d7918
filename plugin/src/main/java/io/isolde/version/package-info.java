// SPDX-License-Identifier: Apache-2.0
/**
 * Old versions on each replica, and reads as of a timestamp.
 *
 * <p>The database as of T is what its cells and deletions with timestamps at or below T merge to.
 * Whatever Cassandra still holds is filtered by timestamp while it is read ({@link
 * io.isolde.version.AsOfFilter}); what it gave up is kept until nobody can need it: cells replaced
 * in a memtable by {@link io.isolde.version.VersionStore}, SSTables replaced by a compaction by
 * {@link io.isolde.version.SSTableRetention}. What could not be kept raises the {@link
 * io.isolde.version.Horizon}, below which a replica refuses to answer rather than answer wrong.
 *
 * <p>{@link io.isolde.version.VersionIndex} hooks all of it into Cassandra, as a custom secondary
 * index. Other packages touch Cassandra's storage engine, too: above all {@code
 * io.isolde.snapshot.store} links and rewrites SSTables, and {@code io.isolde.replication}
 * schedules compactions.
 */
package io.isolde.version;
