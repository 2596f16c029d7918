// SPDX-License-Identifier: Apache-2.0
/**
 * Replicated logs (Apache Ratis), and the one port of a node that carries them and our own
 * requests.
 *
 * <p>Reading order: {@link io.isolde.raft.PeerTransport} (the port), {@link
 * io.isolde.raft.RaftNode} and {@link io.isolde.raft.RaftReplica} (the logs), then, for those who
 * change it, {@code RaftRpcService} (Ratis over the port), {@code KeptConnection} (one connection
 * to a node, for Raft in {@code PeerLink} and for requests in {@code NodeConnections}) and {@code
 * LeaderWatch} (elections before the time-out).
 */
package io.isolde.raft;
