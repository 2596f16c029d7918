// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import java.io.IOException;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.GroupManagementRequest;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.server.RaftServer;

/** Requests to the local Ratis server about itself. */
final class RatisRequests {
  private RatisRequests() {}

  static void addGroup(RaftServer server, RaftGroup group) throws IOException {
    RaftClientReply reply =
        server.groupManagement(
            GroupManagementRequest.newAdd(ClientId.randomId(), server.getId(), 0, group, true));
    if (!reply.isSuccess()) {
      throw new IOException("Cannot start group " + group.getGroupId(), reply.getException());
    }
  }
}
