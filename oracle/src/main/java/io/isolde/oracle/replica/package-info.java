// SPDX-License-Identifier: Apache-2.0
/**
 * The oracle as a replicated state machine, without the machinery that replicates it: what goes
 * into the log ({@link io.isolde.oracle.replica.LogEntry}), what every replica makes of it ({@link
 * io.isolde.oracle.replica.OracleReplica}), and what only the leader knows ({@link
 * io.isolde.oracle.replica.Leadership}, {@link io.isolde.oracle.replica.CoordinatorLeases}).
 *
 * <p>Pure, as the package above: time is an argument, nothing is read or sent.
 */
package io.isolde.oracle.replica;
