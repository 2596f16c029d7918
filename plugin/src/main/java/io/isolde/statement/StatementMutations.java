// SPDX-License-Identifier: Apache-2.0
package io.isolde.statement;

import java.util.ArrayList;
import java.util.List;
import org.apache.cassandra.cql3.Attributes;
import org.apache.cassandra.cql3.BatchQueryOptions;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.VariableSpecifications;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.db.IMutation;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.transport.Dispatcher;

/** What a statement writes, by Cassandra's own code. */
public final class StatementMutations {
  private StatementMutations() {}

  /**
   * Returns the statement's writes.
   *
   * @param timestamp of the cells; provisional, until the commit
   */
  public static List<PartitionUpdate> of(
      ModificationStatement statement,
      ClientState state,
      QueryOptions options,
      long timestamp,
      long nowInSeconds,
      Dispatcher.RequestTime requestTime) {
    return of(
        List.of(statement),
        state,
        BatchQueryOptions.withoutPerStatementVariables(options),
        false,
        timestamp,
        nowInSeconds,
        requestTime);
  }

  /**
   * Returns the writes of statements that belong together.
   *
   * @param isLocal whether lists that are read first are read from this node alone
   */
  public static List<PartitionUpdate> of(
      List<ModificationStatement> statements,
      ClientState state,
      BatchQueryOptions options,
      boolean isLocal,
      long timestamp,
      long nowInSeconds,
      Dispatcher.RequestTime requestTime) {
    // The method that makes mutations is public on batches only.
    BatchStatement batch =
        new BatchStatement(
            BatchStatement.Type.UNLOGGED,
            VariableSpecifications.empty(),
            statements,
            Attributes.none());
    List<PartitionUpdate> updates = new ArrayList<>();
    for (IMutation mutation :
        batch.getMutations(state, options, isLocal, timestamp, nowInSeconds, requestTime)) {
      updates.addAll(mutation.getPartitionUpdates());
    }
    return updates;
  }
}
