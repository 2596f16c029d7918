// SPDX-License-Identifier: Apache-2.0
/**
 * The status oracle as a Raft group: {@link io.isolde.oracle.group.OracleMember} on each member,
 * {@link io.isolde.oracle.group.CoordinatorSession} in each coordinator.
 *
 * <p>Reading order on the member: {@link io.isolde.oracle.group.OracleService} takes requests,
 * {@link io.isolde.oracle.group.Sequencer} makes log entries of them, {@link
 * io.isolde.oracle.group.OracleStateMachine} applies entries, {@link
 * io.isolde.oracle.group.ReplicaHost} is the state behind all three. On the coordinator: {@link
 * io.isolde.oracle.group.OracleClient} finds the leader and asks again, {@link
 * io.isolde.oracle.group.CoordinatorSession} keeps the lease.
 */
package io.isolde.oracle.group;
