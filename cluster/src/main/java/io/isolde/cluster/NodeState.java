// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

/** What a node's process is doing. */
public enum NodeState {
  /** No process of this node is running. */
  STOPPED,
  /** The process is running and doesn't answer CQL yet (or no longer). */
  STARTING,
  /** The process is stopped by a signal and keeps its memory and its sockets. */
  PAUSED,
  /** The node answers CQL. */
  READY
}
