// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import java.io.IOException;
import java.util.List;
import java.util.UUID;

/** This node's part in the groups of one directory. */
public interface RaftNode extends AutoCloseable {
  /**
   * Starts this node's replica of one more group; goes on with the log that is there. Fails if the
   * disk does not take anything.
   *
   * @param initialMembers who founds it; what is on disk counts more. Empty for a node that will be
   *     added to a group that exists
   * @param machine gets what is committed, in order; the node closes it
   * @throws LogDamagedException if the log is not what this node has written
   */
  RaftReplica addGroup(UUID group, List<Peer> initialMembers, StateMachine machine)
      throws IOException;

  /** Ends this node's replica of a group, if there is one, and deletes its log. */
  void removeGroup(UUID group) throws IOException;

  /**
   * Ends this node's replica of a group, if there is one. Its log stays; it acknowledges nothing
   * any more.
   */
  void stopGroup(UUID group) throws IOException;

  /** Stops the groups and closes their state machines; gives up after ten seconds. */
  @Override
  void close();
}
