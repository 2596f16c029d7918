// SPDX-License-Identifier: Apache-2.0
/**
 * Strongly consistent keyspaces: those with the replication strategy {@link
 * io.isolde.replication.ReplicatedLogStrategy}. What replicas agree on is in {@code
 * io.isolde.group}; here is what that means in Cassandra.
 *
 * <p>Reading order: {@link io.isolde.replication.StrongStatements} (what happens to a statement),
 * {@link io.isolde.replication.StrongKeyspaces} (groups come and go with their keyspaces), {@code
 * TableStorage} (what the log does to tables). Then {@code LeaderReads} and {@code LeaderDecisions}
 * (IF, and lists that are read first).
 */
package io.isolde.replication;
