// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.tpcc;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.ColumnDefinition;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A store whose every method is one CQL statement. */
final class CqlStore implements Store {
  private final Statements statements;
  private final Function<BoundStatement, ResultSet> read;
  private final Consumer<BoundStatement> write;
  private final Set<Table> locked;

  /**
   * The statements of a keyspace, each prepared when it is needed first: as many as there are
   * tables and sets of columns. Thread-safe.
   */
  public static final class Statements {
    private final CqlSession session;
    private final String keyspace;
    private final Map<String, PreparedStatement> prepared = new ConcurrentHashMap<>();

    /** The tables may be created later. */
    public Statements(CqlSession session, String keyspace) {
      this.session = session;
      this.keyspace = keyspace;
    }

    /** Returns a store whose reads and writes are executed by the functions. */
    public CqlStore executedBy(
        Function<BoundStatement, ResultSet> read, Consumer<BoundStatement> write) {
      return lockedBy(Set.of(), read, write);
    }

    /** As {@link #executedBy}, with tables whose rows are locked. */
    public CqlStore lockedBy(
        Set<Table> locked,
        Function<BoundStatement, ResultSet> read,
        Consumer<BoundStatement> write) {
      return new CqlStore(this, locked, read, write);
    }

    /** Returns the statement that sets columns of a row. */
    public BoundStatement put(Table table, Row row, Object... key) {
      List<String> names = row.columns().keySet().stream().sorted().toList();
      List<String> all = Stream.concat(table.key().stream(), names.stream()).toList();
      Object[] values =
          Stream.concat(Arrays.stream(key), names.stream().map(row.columns()::get)).toArray();
      return bound(
          "INSERT INTO %s.%s (%s) VALUES (%s)"
              .formatted(
                  keyspace,
                  table.cqlName(),
                  String.join(", ", all),
                  all.stream().map(name -> "?").collect(Collectors.joining(", "))),
          values);
    }

    private BoundStatement set(Table table, Row row, Object... key) {
      List<String> names = row.columns().keySet().stream().sorted().toList();
      Object[] values =
          Stream.concat(names.stream().map(row.columns()::get), Arrays.stream(key)).toArray();
      return bound(
          "UPDATE %s.%s SET %s WHERE %s"
              .formatted(
                  keyspace,
                  table.cqlName(),
                  names.stream().map(name -> name + " = ?").collect(Collectors.joining(", ")),
                  table.key().stream()
                      .map(name -> name + " = ?")
                      .collect(Collectors.joining(" AND "))),
          values);
    }

    private BoundStatement where(
        String verb, Table table, List<String> key, String end, Object... values) {
      return bound(
          "%s FROM %s.%s WHERE %s%s"
              .formatted(
                  verb,
                  keyspace,
                  table.cqlName(),
                  key.stream().map(name -> name + " = ?").collect(Collectors.joining(" AND ")),
                  end),
          values);
    }

    private BoundStatement bound(String cql, Object... values) {
      return prepared.computeIfAbsent(cql, session::prepare).bind(values);
    }
  }

  private CqlStore(
      Statements statements,
      Set<Table> locked,
      Function<BoundStatement, ResultSet> read,
      Consumer<BoundStatement> write) {
    this.statements = statements;
    this.locked = locked;
    this.read = read;
    this.write = write;
  }

  @Override
  public Optional<Row> find(Table table, Object... key) {
    return find(table, "", key);
  }

  @Override
  public Optional<Row> lock(Table table, Object... key) {
    return locked.contains(table) ? find(table, " FOR UPDATE", key) : Optional.empty();
  }

  private Optional<Row> find(Table table, String end, Object... key) {
    return Optional.ofNullable(
            read.apply(statements.where("SELECT *", table, table.key(), end, key)).one())
        .map(CqlStore::row);
  }

  @Override
  public List<Row> slice(Table table, int limit, Object... partition) {
    List<String> key = table.key().subList(0, table.partitionColumns());
    List<Object> values = new ArrayList<>(Arrays.asList(partition));
    values.add(limit);
    List<Row> rows = new ArrayList<>();
    read.apply(statements.where("SELECT *", table, key, " LIMIT ?", values.toArray()))
        .forEach(row -> rows.add(row(row)));
    return rows;
  }

  @Override
  public void put(Table table, Row row, Object... key) {
    write.accept(statements.put(table, row, key));
  }

  @Override
  public void set(Table table, Row row, Object... key) {
    write.accept(statements.set(table, row, key));
  }

  @Override
  public void delete(Table table, Object... key) {
    write.accept(statements.where("DELETE", table, table.key(), "", key));
  }

  private static Row row(com.datastax.oss.driver.api.core.cql.Row row) {
    Map<String, Object> columns = new HashMap<>();
    for (ColumnDefinition column : row.getColumnDefinitions()) {
      columns.put(column.getName().asInternal(), row.getObject(column.getName()));
    }
    return new Row(columns);
  }
}
