// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.replication.ReplicaMoves;
import org.apache.cassandra.cql3.statements.schema.AlterKeyspaceStatement;
import org.apache.cassandra.service.ClientWarn;
import org.apache.cassandra.transport.Event;
import org.apache.cassandra.transport.messages.ResultMessage;

/** ALTER KEYSPACE of strong keyspaces. */
record AlteredKeyspaces(ReplicaMoves moves) {
  ResultMessage alter(AlterKeyspaceStatement alter, Incoming incoming) {
    alter.authorize(incoming.client());
    alter.validate(incoming.client());
    String name = alter.keyspace();
    if (!moves.alter(alter, incoming.client())) {
      ClientWarn.instance.warn(name + " has these replicas; nothing was changed.");
      return new ResultMessage.Void();
    }
    ClientWarn.instance.warn(
        "Replicas of %1$s move with ALTER KEYSPACE %1$s REBALANCE, or by themselves with"
                .formatted(name)
            + " strong_rebalance_after.");
    return new ResultMessage.SchemaChange(
        new Event.SchemaChange(Event.SchemaChange.Change.UPDATED, name));
  }
}
