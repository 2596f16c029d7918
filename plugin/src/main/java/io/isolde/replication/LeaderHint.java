// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.group.GroupClient;
import io.isolde.raft.Peer;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.cassandra.gms.Gossiper;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.service.ClientWarn;
import org.apache.cassandra.service.StorageService;
import org.apache.cassandra.transport.ProtocolVersion;
import org.apache.cassandra.transport.messages.ResultMessage;
import org.apache.cassandra.utils.ByteBufferUtil;

/**
 * Tells a client whose request this node had to pass on which node leads: a client that asks there
 * the next time saves the detour. The answer's custom payload has it as {@code isolde-leader}, the
 * address and port where that node listens for clients.
 */
final class LeaderHint {
  static final String LEADER = "isolde-leader";

  private LeaderHint() {}

  /**
   * The answer of a group, with the hint if another node leads it and the protocol has room. Not
   * with warnings: Cassandra 5.0 writes them before the payload, some drivers read them after it.
   */
  static CompletableFuture<ResultMessage> on(
      CompletableFuture<ResultMessage> answer,
      StrongKeyspace keyspace,
      GroupClient.Target target,
      ProtocolVersion version) {
    return hasRoom(version) ? answer.thenApply(known -> hinted(known, keyspace, target)) : answer;
  }

  /** As {@link #on(CompletableFuture, StrongKeyspace, GroupClient.Target, ProtocolVersion)}. */
  static ResultMessage on(
      ResultMessage answer,
      StrongKeyspace keyspace,
      GroupClient.Target target,
      ProtocolVersion version) {
    return hasRoom(version) ? hinted(answer, keyspace, target) : answer;
  }

  private static boolean hasRoom(ProtocolVersion version) {
    return version.isGreaterOrEqualTo(ProtocolVersion.V4)
        && ClientWarn.instance.getWarnings() == null;
  }

  private static ResultMessage hinted(
      ResultMessage answer, StrongKeyspace keyspace, GroupClient.Target target) {
    keyspace
        .client()
        .leaderElsewhere(target)
        .map(LeaderHint::clientAddress)
        .ifPresent(leader -> answer.setCustomPayload(Map.of(LEADER, ByteBufferUtil.bytes(leader))));
    return answer;
  }

  private static String clientAddress(Peer leader) {
    InetAddressAndPort endpoint = InetAddressAndPort.getByAddress(leader.address().getAddress());
    return Gossiper.instance.getEndpointStateForEndpoint(endpoint) == null
        ? endpoint.getHostAddress(false)
        : StorageService.instance.getNativeaddress(endpoint, true);
  }
}
