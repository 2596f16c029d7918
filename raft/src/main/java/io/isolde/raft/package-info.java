// SPDX-License-Identifier: Apache-2.0
/**
 * Replicated logs, as groups of ours need them from any Raft library.
 *
 * <p>Reading order: {@link io.isolde.raft.RaftNode}, {@link io.isolde.raft.RaftReplica} (a log and
 * who leads it), {@link io.isolde.raft.StateMachine} (what the log is about) and {@link
 * io.isolde.raft.GroupFailure}. Package {@code raft.ratis} implements them with Apache Ratis;
 * package {@code raft.transport} is the port over which the nodes talk; {@code raft.group} has what
 * groups with clients share.
 */
package io.isolde.raft;
