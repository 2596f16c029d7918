// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.google.common.collect.Iterables;
import io.isolde.error.IsoldeException;
import io.isolde.read.LockingSelect;
import java.util.Optional;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.QueryHandler;
import org.apache.cassandra.cql3.ResultSet;
import org.apache.cassandra.cql3.functions.Function;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.exceptions.RequestValidationException;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.transport.messages.ResultMessage;
import org.apache.cassandra.utils.MD5Digest;

/**
 * Prepared statements of Isolde, for drivers that prepare everything, and {@link LateRefusals}.
 * Bounded.
 */
final class PreparedControlStatements {
  private static final int MAX_CHARACTERS = 1 << 20;

  /** What a short one counts for: so there are at most a thousand. */
  private static final int MIN_WEIGHT = MAX_CHARACTERS / 1000;

  private final Cache<MD5Digest, QueryHandler.Prepared> prepared =
      Caffeine.newBuilder()
          .maximumWeight(MAX_CHARACTERS)
          .weigher(
              (MD5Digest id, QueryHandler.Prepared each) ->
                  Math.max(each.rawCQLStatement.length(), MIN_WEIGHT))
          .build();

  ResultMessage.Prepared prepare(String text, CQLStatement statement, ClientState state) {
    return prepare(text, statement, state.getRawKeyspace());
  }

  /** One of {@link LateRefusals}. Its id is that of the same text, whatever USE says, if it may. */
  ResultMessage.Prepared prepareLate(String text, CQLStatement statement, ClientState state) {
    return prepare(
        text, statement, LateRefusals.isFullyQualified(text) ? null : state.getRawKeyspace());
  }

  /** Its id is that of the same text, whatever USE says, if it may. */
  ResultMessage.Prepared prepareLocking(String text, ClientState state) {
    return prepare(
        text,
        ForUpdate.prepare(text, state),
        ForUpdate.isFullyQualified(text) ? null : state.getRawKeyspace());
  }

  private ResultMessage.Prepared prepare(String text, CQLStatement statement, String keyspace) {
    if (text.length() > MAX_CHARACTERS) {
      throw IsoldeException.invalid(
          "A statement of "
              + text.length()
              + " characters is too long to be prepared; send it unprepared, or as several.");
    }
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

  /**
   * As {@link #get}, prepared anew if what it rests on may have changed since. Null also if that
   * fails, or takes other values: the driver hears of that when it prepares it again.
   */
  QueryHandler.Prepared getFresh(MD5Digest id) {
    QueryHandler.Prepared kept = get(id);
    if (kept == null || isFresh(kept.statement)) {
      return kept;
    }
    Optional<CQLStatement> statement = again(kept);
    if (statement.isEmpty()) {
      prepared.invalidate(id);
      return null;
    }
    QueryHandler.Prepared fresh =
        new QueryHandler.Prepared(
            statement.get(), kept.rawCQLStatement, kept.fullyQualified, kept.keyspace);
    prepared.put(id, fresh);
    return fresh;
  }

  private static Optional<CQLStatement> again(QueryHandler.Prepared kept) {
    ClientState client = ClientState.forInternalCalls(kept.keyspace);
    try {
      return Optional.of(again(kept, client))
          .filter(now -> now.getBindVariables().equals(kept.statement.getBindVariables()))
          .filter(now -> resultId(now).equals(resultId(kept.statement)));
    } catch (RequestValidationException e) {
      return Optional.empty();
    }
  }

  /** Of what drivers expect to get. */
  private static MD5Digest resultId(CQLStatement statement) {
    return ResultSet.ResultMetadata.fromPrepared(statement).getResultMetadataId();
  }

  private static CQLStatement again(QueryHandler.Prepared kept, ClientState client) {
    if (kept.statement instanceof ControlStatement.Watch) {
      return WatchStatements.prepare(kept.rawCQLStatement, client);
    }
    if (kept.statement instanceof LockingSelect) {
      return ForUpdate.prepare(kept.rawCQLStatement, client);
    }
    return kept.statement instanceof ControlStatement.Block
        ? BlockStatements.prepare(kept.rawCQLStatement, client)
        : LateRefusals.prepare(kept.rawCQLStatement, client);
  }

  @SuppressWarnings("ReferenceEquality") // each change of a table makes another one
  private static boolean isFresh(CQLStatement statement) {
    if (statement instanceof ControlStatement.Block block) {
      return BlockStatements.isFresh(block.block());
    }
    if (statement instanceof ControlStatement.Watch watch) {
      return isFresh(watch.select());
    }
    if (statement instanceof SelectStatement select) {
      return Iterables.all(select.getFunctions(), Function::isNative)
          && select.table == Schema.instance.getTableMetadata(select.table.id);
    }
    if (statement instanceof BatchStatement batch) {
      return batch.getStatements().stream().allMatch(PreparedControlStatements::isFresh);
    }
    return !(statement instanceof ModificationStatement write)
        || (Iterables.isEmpty(write.getFunctions())
            && write.metadata() == Schema.instance.getTableMetadata(write.metadata().id));
  }
}
