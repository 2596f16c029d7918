// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.ycsb;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.BoundStatementBuilder;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A table as YCSB's binding for Cassandra has it: a key and ten fields, all of them text. */
final class CqlRows implements YcsbDb.Rows {
  private static final List<String> FIELDS =
      IntStream.range(0, Mix.FIELDS).mapToObj(i -> "field" + i).toList();

  private final CqlSession session;
  private final PreparedStatement insert;
  private final PreparedStatement read;
  private final PreparedStatement scan;
  private final Map<String, PreparedStatement> updates = new HashMap<>();
  private final Consumer<List<BoundStatement>> together;

  /**
   * @param table with its keyspace; it is there
   * @param together executes several updates
   */
  CqlRows(CqlSession session, String table, Consumer<List<BoundStatement>> together) {
    this.session = session;
    this.together = together;
    insert =
        session.prepare(
            "INSERT INTO %s (y_id, %s) VALUES (:y_id, %s)"
                .formatted(
                    table,
                    String.join(", ", FIELDS),
                    FIELDS.stream().map(":"::concat).collect(Collectors.joining(", "))));
    read = session.prepare("SELECT * FROM %s WHERE y_id = ?".formatted(table));
    scan =
        session.prepare("SELECT * FROM %s WHERE token(y_id) >= token(?) LIMIT ?".formatted(table));
    for (String field : FIELDS) {
      updates.put(
          field,
          session.prepare(
              "UPDATE %s SET %s = :%s WHERE y_id = :y_id".formatted(table, field, field)));
    }
  }

  /** Returns the statement that creates it. */
  static String createStatement(String table) {
    return "CREATE TABLE %s (y_id text PRIMARY KEY, %s)"
        .formatted(
            table, FIELDS.stream().map(field -> field + " text").collect(Collectors.joining(", ")));
  }

  @Override
  public Map<String, String> read(String key) {
    Row row = session.execute(read.bind(key)).one();
    return row == null ? Map.of() : fields(row);
  }

  @Override
  public List<Map<String, String>> scan(String firstKey, int count) {
    return session.execute(scan.bind(firstKey, count)).all().stream().map(CqlRows::fields).toList();
  }

  private static Map<String, String> fields(Row row) {
    return FIELDS.stream().collect(Collectors.toMap(field -> field, row::getString));
  }

  @Override
  public void update(Update update) {
    var unused = session.execute(bound(update));
  }

  @Override
  public void updateAll(List<Update> updates) {
    together.accept(updates.stream().map(this::bound).toList());
  }

  /** The workloads update one field at a time. */
  private BoundStatement bound(Update update) {
    String field = update.fields().keySet().iterator().next();
    return filled(updates.get(field), update.key(), update.fields());
  }

  @Override
  public void insert(String key, Map<String, String> fields) {
    var unused = session.execute(filled(insert, key, fields));
  }

  private static BoundStatement filled(
      PreparedStatement statement, String key, Map<String, String> fields) {
    BoundStatementBuilder builder = statement.boundStatementBuilder().setString("y_id", key);
    for (Map.Entry<String, String> field : fields.entrySet()) {
      builder = builder.setString(field.getKey(), field.getValue());
    }
    return builder.build();
  }
}
