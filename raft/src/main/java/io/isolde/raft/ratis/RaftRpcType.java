// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.RaftSettings;
import io.isolde.raft.transport.PeerTransport;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.ServerFactory;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.leader.LogAppender;

/** How Ratis finds {@link RaftRpcService}: by the name of this class, with a context beside it. */
public final class RaftRpcType implements RpcType {
  static final String CONTEXT = "isolde.raft.context";

  /** Called by Ratis. */
  public RaftRpcType() {}

  @Override
  public String name() {
    return "ISOLDE";
  }

  @Override
  public ServerFactory newFactory(Parameters parameters) {
    Context context = parameters.getNonNull(CONTEXT, Context.class);
    return new ServerFactory() {
      @Override
      public RpcType getRpcType() {
        return RaftRpcType.this;
      }

      @Override
      public LogAppender newLogAppender(
          RaftServer.Division division, LeaderState leader, FollowerInfo follower) {
        RaftRpcService rpc = (RaftRpcService) division.getRaftServer().getServerRpc();
        return new PipelinedLogAppender(division, leader, follower, rpc, context.settings());
      }

      @Override
      public RaftRpcService newRaftServerRpc(RaftServer server) {
        return new RaftRpcService(
            server, RaftRpcType.this, context.transport(), context.settings());
      }
    };
  }

  /** What the service needs that Ratis creates. */
  record Context(PeerTransport transport, RaftSettings settings) {}
}
