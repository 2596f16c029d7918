// SPDX-License-Identifier: Apache-2.0
/**
 * Replica groups: the replicas of some token ranges as one Raft group, whose log is the write-ahead
 * log of what they store (Garefalakis, Papadopoulos and Magoutis, <em>ACaZoo: a distributed
 * key-value store based on replicated LSM-trees</em>, SRDS 2014).
 *
 * <p>Reading order: {@link io.isolde.group.Layout} (who replicates what), {@link
 * io.isolde.group.LogState} (what every replica makes of the log, a pure core), {@link
 * io.isolde.group.ReplicaGroup} (one replica, and what it does while it leads), {@link
 * io.isolde.group.GroupServer} (all replicas of a node) and {@link io.isolde.group.GroupClient}
 * (any node's way to the leaders). What a log entry does to a database is behind {@link
 * io.isolde.group.Storage}; nothing here knows Cassandra.
 */
package io.isolde.group;
