// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.netty.channel.Channel;
import java.lang.reflect.Field;
import java.util.Optional;
import org.apache.cassandra.metrics.ClientMetrics;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.transport.ConnectedClient;
import org.apache.cassandra.transport.ServerConnection;

/** The connection behind the state of a client. A query handler is given the state only. */
final class ClientChannel {
  private static final Field CONNECTION = connection();

  private ClientChannel() {}

  private static Field connection() {
    try {
      Field field = ConnectedClient.class.getDeclaredField("connection");
      field.setAccessible(true);
      return field;
    } catch (NoSuchFieldException e) {
      throw new IllegalStateException("This is not the Cassandra that Isolde is made for.", e);
    }
  }

  /** Looks through all connections; empty if it is closed. */
  static Optional<Channel> of(ClientState client) {
    return find(client).map(ServerConnection::channel);
  }

  /** How many requests have come on the connection; none if it is closed. */
  static long requests(ClientState client) {
    return find(client).map(connection -> connection.requests.getCount()).orElse(0L);
  }

  private static Optional<ServerConnection> find(ClientState client) {
    return ClientMetrics.instance.allConnectedClients().stream()
        .map(ClientChannel::connectionOf)
        .filter(connection -> connection.getClientState() == client)
        .findAny();
  }

  private static ServerConnection connectionOf(ConnectedClient client) {
    try {
      return (ServerConnection) CONNECTION.get(client);
    } catch (IllegalAccessException e) {
      throw new AssertionError("made accessible above", e);
    }
  }
}
