// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.oracle.Outcome;
import java.util.Optional;
import java.util.UUID;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.db.marshal.BooleanType;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.marshal.UUIDType;
import org.apache.cassandra.transport.messages.ResultMessage;

/** Executes the statements with which people look at transactions, and end those of others. */
final class TransactionLists {
  /** Nobody has decided it, or that is forgotten. */
  private static final String UNDECIDED = "UNDECIDED";

  private final LazyCoordinator coordinator;

  TransactionLists(LazyCoordinator coordinator) {
    this.coordinator = coordinator;
  }

  ResultMessage show(UUID id) {
    Optional<Outcome> outcome = coordinator.get().transactions().outcome(id);
    return new Rows()
        .with("transaction_id", UUIDType.instance, id)
        .with("outcome", UTF8Type.instance, outcome.map(Outcome::name).orElse(UNDECIDED))
        .with(
            "commit_timestamp",
            LongType.instance,
            outcome.orElse(null) instanceof Outcome.Committed committed
                ? Long.valueOf(committed.commitTimestamp())
                : null)
        .build();
  }

  /** As the virtual table has it, with its permissions. */
  static ResultMessage listOpen(Incoming incoming) {
    CQLStatement select =
        QueryProcessor.getStatement("SELECT * FROM isolde.transactions", incoming.client());
    select.authorize(incoming.client());
    return select.execute(incoming.state(), QueryOptions.DEFAULT, incoming.request().requestTime());
  }

  ResultMessage kill(UUID id, Incoming incoming) {
    boolean isSuperuser = incoming.client().getUser().isSuper();
    boolean isEnded = coordinator.get().transactions().kill(id, incoming.user(), isSuperuser);
    return new Rows()
        .with("transaction_id", UUIDType.instance, id)
        .with("killed", BooleanType.instance, isEnded)
        .build();
  }
}
