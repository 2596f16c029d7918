// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.QueryHandler;
import org.apache.cassandra.cql3.ResultSet;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.transport.messages.ResultMessage;
import org.apache.cassandra.utils.MD5Digest;

/**
 * Prepared statements of Isolde, for drivers that prepare everything, and {@link LateRefusals}.
 * Bounded.
 */
final class PreparedControlStatements {
  private static final int MAX_PREPARED = 1000;

  private final Cache<MD5Digest, QueryHandler.Prepared> prepared =
      Caffeine.newBuilder().maximumSize(MAX_PREPARED).build();

  ResultMessage.Prepared prepare(String text, CQLStatement statement, ClientState state) {
    String keyspace = state.getRawKeyspace();
    MD5Digest id = MD5Digest.compute(keyspace == null ? text : keyspace + text);
    prepared.put(id, new QueryHandler.Prepared(statement, text, keyspace == null, keyspace));
    ResultSet.ResultMetadata answer = ResultSet.ResultMetadata.fromPrepared(statement);
    return new ResultMessage.Prepared(
        id,
        answer.getResultMetadataId(),
        ResultSet.PreparedMetadata.fromPrepared(statement),
        answer);
  }

  /** Returns null if there is none; then the driver prepares it again. */
  QueryHandler.Prepared get(MD5Digest id) {
    return prepared.getIfPresent(id);
  }

  /** As {@link #get}, prepared anew if its tables have changed since. */
  QueryHandler.Prepared getFresh(MD5Digest id) {
    QueryHandler.Prepared kept = get(id);
    if (kept == null || isFresh(kept.statement)) {
      return kept;
    }
    QueryHandler.Prepared fresh =
        new QueryHandler.Prepared(
            LateRefusals.prepare(kept.rawCQLStatement, ClientState.forInternalCalls(kept.keyspace)),
            kept.rawCQLStatement,
            kept.fullyQualified,
            kept.keyspace);
    prepared.put(id, fresh);
    return fresh;
  }

  @SuppressWarnings("ReferenceEquality") // each change of a table makes another one
  private static boolean isFresh(CQLStatement statement) {
    if (statement instanceof BatchStatement batch) {
      return batch.getStatements().stream().allMatch(PreparedControlStatements::isFresh);
    }
    return !(statement instanceof ModificationStatement write)
        || write.metadata() == Schema.instance.getTableMetadata(write.metadata().id);
  }
}
