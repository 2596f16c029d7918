// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import java.io.IOException;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.GroupManagementRequest;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;

/** Requests to the local Ratis server about itself. */
final class RatisRequests {
  private RatisRequests() {}

  /**
   * Starts a group.
   *
   * @param isNew whether there must be no log of it
   */
  static void addGroup(RaftServer server, RaftGroup group, boolean isNew) throws IOException {
    RaftClientReply reply =
        server.groupManagement(
            GroupManagementRequest.newAdd(ClientId.randomId(), server.getId(), 0, group, isNew));
    if (!reply.isSuccess()) {
      throw new IOException("Cannot start group " + group.getGroupId(), reply.getException());
    }
  }

  static void removeGroup(RaftServer server, RaftGroupId group, boolean isDeleted)
      throws IOException {
    RaftClientReply reply =
        server.groupManagement(
            GroupManagementRequest.newRemove(
                ClientId.randomId(), server.getId(), 0, group, isDeleted, false));
    if (!reply.isSuccess()) {
      throw new IOException("Cannot remove group " + group, reply.getException());
    }
  }
}
