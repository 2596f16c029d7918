// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.group.Layout;
import io.isolde.raft.Peer;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.apache.cassandra.dht.Token;
import org.apache.cassandra.gms.Gossiper;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.service.ClientWarn;
import org.apache.cassandra.service.StorageService;
import org.apache.cassandra.transport.ProtocolVersion;
import org.apache.cassandra.transport.messages.ResultMessage;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells a client whose request this node had to pass on which node leads: a client that asks there
 * the next time saves the detour. The answer's custom payload has two values.
 *
 * <ul>
 *   <li>{@code isolde-leader}: the address and port where that node listens for clients, as text;
 *   <li>{@code isolde-group}: for which requests that holds. 16 bytes are the id of the group, and
 *       8 bytes each are the ends of one of its token ranges: above the first token, and up to the
 *       second. It goes around the ring if the first is not less. A range never changes its group.
 * </ul>
 */
final class LeaderHint {
  private static final Logger logger = LoggerFactory.getLogger(LeaderHint.class);
  static final String LEADER = "isolde-leader";
  static final String GROUP = "isolde-group";

  private LeaderHint() {}

  /**
   * The answer of a group, with the hint if another node leads it and the protocol has room. Not
   * with warnings: Cassandra 5.0 writes them before the payload, some drivers read them after it.
   *
   * @param token of a partition that the request was about
   */
  static CompletableFuture<ResultMessage> on(
      CompletableFuture<ResultMessage> answer,
      StrongKeyspace keyspace,
      Token token,
      ProtocolVersion version) {
    return hasRoom(version) ? answer.thenApply(known -> hinted(known, keyspace, token)) : answer;
  }

  /** As {@link #on(CompletableFuture, StrongKeyspace, Token, ProtocolVersion)}. */
  static ResultMessage on(
      ResultMessage answer, StrongKeyspace keyspace, Token token, ProtocolVersion version) {
    return hasRoom(version) ? hinted(answer, keyspace, token) : answer;
  }

  private static boolean hasRoom(ProtocolVersion version) {
    return version.isGreaterOrEqualTo(ProtocolVersion.V4)
        && ClientWarn.instance.getWarnings() == null;
  }

  /** It is a courtesy: a write that is done must not fail for it. */
  private static ResultMessage hinted(ResultMessage answer, StrongKeyspace keyspace, Token token) {
    try {
      addHint(answer, keyspace, token);
    } catch (RuntimeException e) {
      logger.debug("A client gets no hint who leads.", e); // The leader has just left, perhaps.
    }
    return answer;
  }

  private static void addHint(ResultMessage answer, StrongKeyspace keyspace, Token token) {
    keyspace
        .client()
        .leaderElsewhere(keyspace.targetOf(token))
        .map(LeaderHint::clientAddress)
        .ifPresent(
            leader ->
                answer.setCustomPayload(
                    Map.of(LEADER, ByteBufferUtil.bytes(leader), GROUP, group(keyspace, token))));
  }

  private static ByteBuffer group(StrongKeyspace keyspace, Token token) {
    UUID id = keyspace.targetOf(token).group();
    Layout.Span span = keyspace.spanOf(token);
    return ByteBuffer.allocate(4 * Long.BYTES)
        .putLong(id.getMostSignificantBits())
        .putLong(id.getLeastSignificantBits())
        .putLong(span.start())
        .putLong(span.end())
        .flip();
  }

  private static String clientAddress(Peer leader) {
    InetAddressAndPort endpoint = InetAddressAndPort.getByAddress(leader.address().getAddress());
    return Gossiper.instance.getEndpointStateForEndpoint(endpoint) == null
        ? endpoint.getHostAddress(false)
        : StorageService.instance.getNativeaddress(endpoint, true);
  }
}
