// SPDX-License-Identifier: Apache-2.0
package io.isolde.testing;

import io.isolde.conflict.WriteSet;
import io.isolde.statement.StatementMutations;
import java.util.Arrays;
import java.util.Set;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.transport.Dispatcher;

/** What statements write, as ids, and whether ids meet. */
public final class WriteSets {
  private WriteSets() {}

  /** Returns what a statement writes, without markers. */
  public static WriteSet of(String cql) {
    ModificationStatement statement =
        (ModificationStatement) QueryProcessor.parseStatement(cql, ClientState.forInternalCalls());
    return WriteSet.of(
        StatementMutations.of(
            statement,
            ClientState.forInternalCalls(),
            QueryOptions.DEFAULT,
            2,
            1_000_000,
            Dispatcher.RequestTime.forImmediateExecution()),
        Set.of());
  }

  /**
   * Returns whether the oracle finds an id that one commit checks among those that another writes.
   */
  public static boolean meet(long[] checked, long[] written) {
    return Arrays.stream(checked).anyMatch(id -> Arrays.stream(written).anyMatch(one -> one == id));
  }
}
