// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import io.isolde.conflict.WriteSet;
import io.isolde.statement.StatementMutations;
import java.util.Arrays;
import java.util.Set;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.transport.Dispatcher;

/** Whether statements of {@link RandomWrites} conflict. */
final class CellWrites {
  private CellWrites() {}

  static boolean conflict(String one, String other, String table) {
    long[] written = of(one, table).writes();
    return Arrays.stream(of(other, table).overwrites())
        .anyMatch(id -> Arrays.binarySearch(written, id) >= 0);
  }

  private static WriteSet of(String statement, String table) {
    String text = statement.formatted("test." + table, "TIMESTAMP 2");
    ModificationStatement parsed =
        (ModificationStatement) QueryProcessor.parseStatement(text, ClientState.forInternalCalls());
    return WriteSet.of(
        StatementMutations.of(
            parsed,
            ClientState.forInternalCalls(),
            QueryOptions.DEFAULT,
            2,
            1_000_000,
            Dispatcher.RequestTime.forImmediateExecution()),
        Set.of());
  }
}
