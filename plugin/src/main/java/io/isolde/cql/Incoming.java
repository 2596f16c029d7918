// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.statement.ClientRequest;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.transport.messages.ResultMessage;

/**
 * A request as the protocol brought it.
 *
 * @param payload what it says of its transaction
 * @param onCassandra runs it as if Isolde were not there
 */
record Incoming(
    QueryState state,
    TransactionPayload payload,
    ClientRequest request,
    Supplier<ResultMessage> onCassandra) {

  Incoming withoutStart() {
    return new Incoming(state, payload.withoutStart(), request, onCassandra);
  }

  /** The same, which runs on Cassandra only after a check. */
  Incoming checking(Runnable check) {
    return new Incoming(
        state,
        payload,
        request,
        () -> {
          check.run();
          return onCassandra.get();
        });
  }

  /** The transaction that the payload names. */
  Optional<UUID> bound() {
    return payload.transaction();
  }

  ClientState client() {
    return state.getClientState();
  }

  String user() {
    return ConnectionTransactions.userOf(client());
  }
}
