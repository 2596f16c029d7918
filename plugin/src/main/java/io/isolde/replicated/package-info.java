// SPDX-License-Identifier: Apache-2.0
/**
 * The oracle's group inside Cassandra nodes: {@link io.isolde.replicated.OracleHost} runs this
 * node's part of it, {@link io.isolde.replicated.ReplicatedOracle} asks it for this node's
 * coordinator. What they take from Cassandra (addresses, certificates, who belongs to the cluster)
 * is in {@link io.isolde.replicated.CassandraNode}.
 */
package io.isolde.replicated;
