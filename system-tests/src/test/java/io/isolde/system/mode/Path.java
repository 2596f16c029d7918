// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.mode;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.DefaultBatchType;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import io.isolde.client.Isolde;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;

/** The ways on which a statement reaches data. */
enum Path {
  PLAIN("systests.m_plain"),
  PLAIN_PREPARED("systests.m_plain"),
  PLAIN_BATCH("systests.m_plain"),
  AUTOCOMMIT("systests.m_tx"),
  PREPARED("systests.m_tx"),
  BATCH("systests.m_tx"),
  BLOCK("systests.m_tx"),
  TRANSACTION("systests.m_tx"),
  AS_OF("systests.m_tx"),
  SNAPSHOT("systests.m_tx"),
  SNAPSHOT_TRANSACTION("systests.m_tx"),
  STRONG("strong.m"),
  STRONG_BATCH("strong.m"),
  STRONG_TRANSACTION("strong.m_tx");

  final String table;

  Path(String table) {
    this.table = table;
  }

  /** What Cassandra does where the same statement comes in the same way. */
  Path withoutIsolde() {
    return switch (this) {
      case PREPARED -> PLAIN_PREPARED;
      case BATCH, STRONG_BATCH -> PLAIN_BATCH;
      default -> PLAIN;
    };
  }

  /** Whether there are such statements on this path of Isolde. */
  boolean takes(boolean isRead, boolean isConditional) {
    return switch (this) {
      case STRONG -> true;
      case PLAIN, PLAIN_PREPARED, PLAIN_BATCH -> false;
      case BATCH -> !isRead && !isConditional;
      case STRONG_BATCH -> !isRead;
      case AUTOCOMMIT, PREPARED, BLOCK, TRANSACTION, STRONG_TRANSACTION -> !isConditional;
      case AS_OF, SNAPSHOT, SNAPSHOT_TRANSACTION -> isRead;
    };
  }

  /**
   * Executes a statement.
   *
   * @param template with $t for the table
   * @param before a moment at which the table had what it has
   */
  ResultSet execute(CqlSession session, SimpleStatement template, long before) {
    String named = this == SNAPSHOT ? table + " AS OF SNAPSHOT seen" : table;
    SimpleStatement statement = template.setQuery(template.getQuery().replace("$t", named));
    return switch (this) {
      case PLAIN, AUTOCOMMIT, SNAPSHOT, STRONG -> session.execute(statement);
      case PREPARED, PLAIN_PREPARED -> session.execute(session.prepare(statement).bind());
      case BATCH, STRONG_BATCH, PLAIN_BATCH ->
          session.execute(
              BatchStatement.newInstance(DefaultBatchType.LOGGED, statement)
                  .setConsistencyLevel(statement.getConsistencyLevel()));
      case BLOCK ->
          session.execute(
              statement.setQuery(
                  "BEGIN TRANSACTION " + statement.getQuery() + "; COMMIT TRANSACTION"));
      case TRANSACTION, STRONG_TRANSACTION ->
          inTransaction(session, TransactionOptions.defaults(), statement);
      case AS_OF -> inTransaction(session, TransactionOptions.asOf(before), statement);
      case SNAPSHOT_TRANSACTION -> ofSnapshot(session, statement);
    };
  }

  private static ResultSet inTransaction(
      CqlSession session, TransactionOptions options, Statement<?> statement) {
    try (Transaction transaction = Isolde.on(session).begin(options)) {
      ResultSet rows = transaction.execute(statement);
      transaction.commit();
      return rows;
    }
  }

  private static ResultSet ofSnapshot(CqlSession session, SimpleStatement statement) {
    Map<String, ByteBuffer> id =
        Map.of(
            "isolde-transaction",
            ByteBuffer.wrap(UUID.randomUUID().toString().getBytes(StandardCharsets.US_ASCII)));
    session.execute(
        SimpleStatement.newInstance("START TRANSACTION READ ONLY AS OF SNAPSHOT seen")
            .setCustomPayload(id));
    try {
      return session.execute(statement.setCustomPayload(id));
    } finally {
      session.execute(SimpleStatement.newInstance("ROLLBACK").setCustomPayload(id));
    }
  }

  /** A sentence that is the same on all paths, if it says the same. */
  String withoutName(String sentence) {
    String[] name = table.split("\\.", -1);
    return sentence
        .replace(name[0] + "/" + name[1], "TABLE")
        .replace(table, "TABLE")
        .replace("<table " + table + ">", "TABLE")
        .replaceAll("\\b" + name[1] + "(@\\w+|_\\w+)?\\b", "TABLE");
  }
}
