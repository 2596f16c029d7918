// SPDX-License-Identifier: Apache-2.0
/**
 * Replica groups: the replicas of some token ranges as one Raft group, whose log is the write-ahead
 * log of what they store (Garefalakis, Papadopoulos and Magoutis, <em>ACaZoo: a distributed
 * key-value store based on replicated LSM-trees</em>, SRDS 2014).
 *
 * <p>Reading order:
 *
 * <ol>
 *   <li>{@link io.isolde.group.Layout}: who replicates what.
 *   <li>{@link io.isolde.group.LogState}: what every replica makes of the log, a pure core.
 *   <li>{@link io.isolde.group.ReplicaGroup}: one replica, and what it does while it leads.
 *   <li>{@link io.isolde.group.GroupServer}: all replicas of a node.
 *   <li>{@link io.isolde.group.GroupClient}: any node's way to the leaders.
 * </ol>
 *
 * <p>What a log entry does to a database is behind {@link io.isolde.group.Storage}; nothing here
 * knows Cassandra.
 */
package io.isolde.group;
