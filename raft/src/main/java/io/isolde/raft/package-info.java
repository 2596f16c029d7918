// SPDX-License-Identifier: Apache-2.0
/**
 * Replicated logs (Apache Ratis), and the one port of a node that carries them and our own
 * requests.
 *
 * <p>Reading order: {@link io.isolde.raft.PeerTransport} (the port), {@link
 * io.isolde.raft.RaftNode} and {@link io.isolde.raft.RaftReplica} (the logs), then, for those who
 * change it, {@code RaftRpcService} (Ratis over the port), {@code PeerLink} (one connection to a
 * peer) and {@code LeaderWatch} (elections before the time-out).
 */
package io.isolde.raft;
