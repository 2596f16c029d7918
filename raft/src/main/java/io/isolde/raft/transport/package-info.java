// SPDX-License-Identifier: Apache-2.0
/**
 * The one port of a node, for Raft and for our own requests. It knows nothing of either.
 *
 * <p>Reading order: {@link io.isolde.raft.transport.PeerTransport} (the port), {@link
 * io.isolde.raft.transport.NodeConnections} (requests to other nodes' ports), then, for those who
 * change it, {@code Frame}, {@code ServerConnection} and {@code ClientConnection} (the two ends of
 * a connection), and {@code KeptConnection} (one connection to a node, for Raft in {@code PeerLink}
 * and for requests in {@code NodeConnections}).
 */
package io.isolde.raft.transport;
