// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import com.google.common.collect.MapMaker;
import java.util.Optional;
import java.util.concurrent.ConcurrentMap;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.cql3.statements.ModificationStatement;

/**
 * The texts of statements that a leader has to decide on: Cassandra does not keep them with the
 * statements. Only of those; they go with the statements.
 */
public final class StatementTexts {
  /** Weak keys are compared by identity. */
  private final ConcurrentMap<CQLStatement, Text> texts = new MapMaker().weakKeys().makeMap();

  record Text(String text, boolean isPrepared) {}

  /** Remembers the text if it may be needed. Cheap for all others. */
  public void remember(CQLStatement statement, String text, boolean isPrepared) {
    if (needsReading(statement) && !texts.containsKey(statement)) {
      texts.put(statement, new Text(text, isPrepared));
    }
  }

  /** Whether somebody has to read before it writes, in a strong keyspace. */
  static boolean needsReading(CQLStatement statement) {
    if (statement instanceof ModificationStatement write) {
      return (write.hasConditions() || write.requiresRead())
          && ReplicatedLogStrategy.isOf(write.keyspace());
    }
    return statement instanceof BatchStatement batch
        && batch.getStatements().stream().anyMatch(StatementTexts::needsReading);
  }

  Optional<Text> of(CQLStatement statement) {
    return Optional.ofNullable(texts.get(statement));
  }
}
