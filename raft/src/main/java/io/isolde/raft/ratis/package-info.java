// SPDX-License-Identifier: Apache-2.0
/**
 * Replicated logs with Apache Ratis; nothing outside of this package knows of it.
 *
 * <p>Reading order:
 *
 * <ol>
 *   <li>{@link io.isolde.raft.ratis.RatisNode}.
 *   <li>{@code RatisReplica}: what this node asks of a log.
 *   <li>{@code RatisMember}: what other members ask of it.
 *   <li>{@code RatisStateMachine} and {@code RatisSnapshots}: what Ratis asks of our state
 *       machines.
 *   <li>{@code RaftRpcService}: Ratis over the port.
 *   <li>{@code LeaderWatch}: elections before the time-out.
 * </ol>
 */
package io.isolde.raft.ratis;
