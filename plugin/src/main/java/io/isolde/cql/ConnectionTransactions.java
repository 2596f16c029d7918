// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import com.google.common.collect.MapMaker;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.transaction.Tables;
import io.netty.channel.Channel;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.cassandra.concurrent.ScheduledExecutors;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.statements.DescribeStatement;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.cql3.statements.UseStatement;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.ClientWarn;

/**
 * The transactions that are bound to a connection, for clients that send one request after another
 * on one connection and no payload: cqlsh, and those that promise it. A transaction ends with its
 * connection, at once. What its client says next, on another connection, is refused once more
 * instead of being executed outside of the transaction.
 */
/*
 * A client that promises to be serial has an id, so its next connection is known to be its own: it
 * gets the lost transaction and is refused until COMMIT or ROLLBACK. cqlsh has none. Its next
 * connection is most likely a new one of its driver that has not greeted, for the same user from
 * the same address. That one is refused once.
 */
final class ConnectionTransactions {
  /** A new connection has had fewer: USE, and options as heartbeats. */
  private static final int FEW_REQUESTS = 32;

  /** Ends a transaction. */
  interface Ending {
    void abandon(UUID id, String user, String sentence);
  }

  private final Ending ending;

  /** Weak keys are compared by identity; a connection has one ClientState for all its life. */
  private final ConcurrentMap<ClientState, UUID> bound = new MapMaker().weakKeys().makeMap();

  /** Those whose end is awaited. */
  private final ConcurrentMap<ClientState, Channel> watched = new MapMaker().weakKeys().makeMap();

  private final ConcurrentMap<ClientState, Boolean> cqlsh = new MapMaker().weakKeys().makeMap();

  /** The connections with a transaction of clients that promise to be serial. Bounded by bound. */
  private final Map<String, ClientState> holders = new ConcurrentHashMap<>();

  private final LostTransactions lost = new LostTransactions();

  ConnectionTransactions(Ending ending) {
    this.ending = ending;
  }

  /** Looks at a statement that is about to be parsed: with one cqlsh is recognised. */
  void said(String cql, ClientState connection) {
    if (SerialClient.isGreetingOfCqlsh(cql) && SerialClient.mayBeCqlsh(options(connection))) {
      cqlsh.put(connection, true);
    }
  }

  /**
   * Binds a transaction to its connection.
   *
   * @throws IsoldeException TRANSACTION_ID_REQUIRED; see {@link #requireSerial}
   */
  void bind(ClientState connection, UUID id) {
    requireSerial(connection);
    bound.put(connection, id);
    promised(connection).ifPresent(client -> holders.put(client, connection));
    watch(connection);
  }

  /** Refuses connections on which requests of others may come in between. */
  void requireSerial(ClientState connection) {
    if (!cqlsh.containsKey(connection) && promised(connection).isEmpty()) {
      throw IsoldeException.of(
          ErrorCode.TRANSACTION_ID_REQUIRED,
          "Threads of a driver share its connections, so START TRANSACTION and all that follows it"
              + " must name the transaction: in the custom payload, isolde-transaction = a random"
              + " UUID. (cqlsh needs no id; it has lost its connection if it is told this: start it"
              + " again.)");
    }
  }

  /** Does nothing if the connection has another transaction by now. */
  void unbind(ClientState connection, UUID id) {
    if (bound.remove(connection, id)) {
      promised(connection).ifPresent(client -> holders.remove(client, connection));
    }
  }

  /** The transaction that a request names, or that its connection stands for. */
  Optional<UUID> transactionOf(Incoming incoming) {
    return incoming.bound().isPresent() ? incoming.bound() : of(incoming.client());
  }

  Optional<UUID> of(ClientState connection) {
    // Nearly always empty on a server of pooled drivers.
    return bound.isEmpty() ? Optional.empty() : Optional.ofNullable(bound.get(connection));
  }

  /**
   * To be called before a statement that names no transaction. The statement may be meant for one
   * that was bound to another connection of the same client.
   *
   * @throws IsoldeException TRANSACTION_EXPIRED, to cqlsh, once
   */
  void arrive(ClientState connection) {
    if ((bound.isEmpty() && lost.isEmpty()) || bound.containsKey(connection)) {
      return;
    }
    Optional<String> client = promised(connection);
    if (client.isPresent()) {
      takeFromOther(client.get(), connection);
      lost.take(client.get()).ifPresent(id -> bind(connection, id));
    } else if (isNewOfCqlsh(connection)) {
      lost.take(placeOf(connection)).ifPresent(id -> refuseOnce(connection, id));
    }
  }

  /** What drivers send beside the application's statements. */
  static boolean isOfNone(CQLStatement statement) {
    return (statement instanceof SelectStatement select && Tables.isSystem(select.table))
        || statement instanceof DescribeStatement
        || statement instanceof UseStatement
        || statement instanceof ControlStatement.Show
        || statement instanceof ControlStatement.ListOpen
        || statement instanceof ControlStatement.Kill;
  }

  /** It uses several connections, or the end of the older one was not noticed yet. */
  private void takeFromOther(String client, ClientState connection) {
    ClientState holder = holders.remove(client);
    UUID id = holder == null || holder == connection ? null : bound.get(holder);
    if (id != null) {
      ending.abandon(
          id,
          userOf(holder),
          "The client of the transaction has gone on with another connection, so the transaction is"
              + " rolled back; ROLLBACK, and run all of it again.");
      lost.add(client, id);
    }
  }

  private boolean isNewOfCqlsh(ClientState connection) {
    return !lost.isEmpty()
        && !cqlsh.containsKey(connection)
        && SerialClient.mayBeCqlsh(options(connection))
        && ClientChannel.requests(connection) <= FEW_REQUESTS;
  }

  private void refuseOnce(ClientState connection, UUID id) {
    cqlsh.put(connection, true);
    throw IsoldeException.of(
        ErrorCode.TRANSACTION_EXPIRED,
        "The connection was lost and with it its transaction, which is rolled back. This statement"
            + " was not executed; those that follow are outside of any transaction.",
        "transaction",
        id);
  }

  /**
   * Says so to a cqlsh that writes outside of any transaction while another one of the same user,
   * at the same place, has one: SOURCE gives its statements to a second one.
   */
  void warnBesideOther(ClientState connection) {
    if (bound.isEmpty() || !cqlsh.containsKey(connection)) {
      return;
    }
    for (ClientState other : bound.keySet()) {
      if (cqlsh.containsKey(other) && placeOf(other).equals(placeOf(connection))) {
        ClientWarn.instance.warn(
            "This was written outside of any transaction, while another cqlsh of this user has one"
                + " open. (SOURCE and COPY run on connections of their own.)");
        return;
      }
    }
  }

  private void watch(ClientState connection) {
    Channel channel = watched.get(connection);
    if (channel == null) {
      channel = ClientChannel.of(connection).orElse(null);
      if (channel == null) {
        closed(connection);
        return;
      }
      watched.put(connection, channel);
      var unused =
          channel
              .closeFuture()
              .addListener(
                  // Not on the event loop: it may wait for the oracle's lock.
                  done -> ScheduledExecutors.optionalTasks.execute(() -> closed(connection)));
    }
    if (!channel.isOpen()) {
      closed(connection);
    }
  }

  private void closed(ClientState connection) {
    UUID id = bound.remove(connection);
    if (id == null) {
      return;
    }
    Optional<String> client = promised(connection);
    client.ifPresent(known -> holders.remove(known, connection));
    ending.abandon(
        id,
        userOf(connection),
        "The connection of the transaction was closed, so it is rolled back; ROLLBACK, and run all"
            + " of it again.");
    lost.add(client.orElseGet(() -> placeOf(connection)), id);
  }

  static String userOf(ClientState client) {
    return client.getUser() == null ? "" : client.getUser().getName();
  }

  /** As much as is known of a cqlsh. No client's id is like that. */
  private static String placeOf(ClientState connection) {
    return userOf(connection) + "@" + connection.getRemoteAddress().getAddress();
  }

  private static Optional<String> promised(ClientState connection) {
    // The user belongs to it: a client's id is no secret.
    return SerialClient.promised(options(connection))
        .map(client -> client + " of " + userOf(connection));
  }

  private static Map<String, String> options(ClientState connection) {
    return connection.getClientOptions().orElse(Map.of());
  }
}
