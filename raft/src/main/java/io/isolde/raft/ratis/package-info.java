// SPDX-License-Identifier: Apache-2.0
/**
 * Replicated logs with Apache Ratis; nothing outside of this package knows of it.
 *
 * <p>Reading order: {@link io.isolde.raft.ratis.RatisNode}, {@code RatisReplica} (what this node
 * asks of a log), {@code RatisMember} (what other members ask of it), {@code RatisStateMachine} and
 * {@code RatisSnapshots} (what Ratis asks of our state machines), {@code RaftRpcService} (Ratis
 * over the port), and {@code LeaderWatch} (elections before the time-out).
 */
package io.isolde.raft.ratis;
