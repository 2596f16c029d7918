// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import java.util.Map;

/** Empties the tables of a store row by row: TRUNCATE takes longer than a test. */
final class EmptyKeyspace {
  private static final Map<String, String> PARTITION_KEYS =
      Map.of(
          "messages", "mailbox_id",
          "places", "message_id",
          "shared", "user",
          "subscriptions", "user",
          "annotations", "mailbox_id");

  private final CqlSession session;
  private final String keyspace;

  EmptyKeyspace(CqlSession session, String keyspace) {
    this.session = session;
    this.keyspace = keyspace;
  }

  void empty() {
    // Names are used again. A condition gives the deletion a timestamp above that of the name.
    String names = keyspace + ".names";
    for (Row row :
        session.execute(
            SimpleStatement.newInstance("SELECT user, namespace, name FROM " + names)
                .setConsistencyLevel(DefaultConsistencyLevel.QUORUM))) {
      session.execute(
          "DELETE FROM " + names + " WHERE user = ? AND namespace = ? AND name = ? IF EXISTS",
          row.getString("user"),
          row.getString("namespace"),
          row.getString("name"));
    }
    PARTITION_KEYS.forEach(this::empty);
  }

  private void empty(String table, String key) {
    String name = keyspace + "." + table;
    for (Row row : session.execute("SELECT DISTINCT " + key + " FROM " + name)) {
      session.execute("DELETE FROM " + name + " WHERE " + key + " = ?", row.getObject(key));
    }
  }
}
