// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import com.google.common.collect.MapMaker;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentMap;
import org.apache.cassandra.service.ClientState;

/**
 * The transactions that are bound to a connection, for clients that send one request after another
 * on one connection and no payload: cqlsh. An entry goes with its connection.
 */
final class ConnectionTransactions {
  /** Weak keys are compared by identity; a connection has one ClientState for all its life. */
  private final ConcurrentMap<ClientState, UUID> bound = new MapMaker().weakKeys().makeMap();

  void bind(ClientState connection, UUID id) {
    bound.put(connection, id);
  }

  void unbind(ClientState connection) {
    bound.remove(connection);
  }

  Optional<UUID> of(ClientState connection) {
    // Nearly always empty on a server of pooled drivers.
    return bound.isEmpty() ? Optional.empty() : Optional.ofNullable(bound.get(connection));
  }
}
