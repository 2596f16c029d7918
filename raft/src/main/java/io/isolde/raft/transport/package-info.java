// SPDX-License-Identifier: Apache-2.0
/**
 * The one port of a node, for Raft and for our own requests. It knows nothing of either.
 *
 * <p>Reading order:
 *
 * <ol>
 *   <li>{@link io.isolde.raft.transport.PeerTransport}: the port.
 *   <li>{@link io.isolde.raft.transport.NodeConnections}: requests to other nodes' ports.
 * </ol>
 *
 * <p>Then, for those who change it:
 *
 * <ol>
 *   <li>{@code Frame}.
 *   <li>{@code ServerConnection} and {@code ClientConnection}: the two ends of a connection.
 *   <li>{@code KeptConnection}: one connection to a node, for Raft in {@code PeerLink} and for
 *       requests in {@code NodeConnections}.
 * </ol>
 */
package io.isolde.raft.transport;
