// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Registers and lists for single statements, in a strong keyspace or in transactional tables. */
final class StatementTables {
  private static final int ROWS = 4;
  private static final int STEPS_PER_TRUNCATION = 400;

  private static final String STRONG_KEYSPACE = "strong";
  private static final String STRONG = STRONG_KEYSPACE + ".";
  private static final String TRANSACTIONAL = "torture.single_";

  private final CqlSession session;
  private final String prefix;
  private final ConsistencyLevel readLevel;
  private final Map<String, PreparedStatement> prepared = new ConcurrentHashMap<>();

  private StatementTables(CqlSession session, String prefix, ConsistencyLevel readLevel) {
    this.session = session;
    this.prefix = prefix;
    this.readLevel = readLevel;
  }

  static StatementTables strong(CqlSession session) {
    return new StatementTables(session, STRONG, ConsistencyLevel.QUORUM);
  }

  /** Reads see all that was answered before, if they are at SERIAL. */
  static StatementTables transactional(CqlSession session) {
    return new StatementTables(session, TRANSACTIONAL, ConsistencyLevel.SERIAL);
  }

  static List<String> ofStrongKeyspace() {
    List<String> all = new ArrayList<>();
    all.add(
        "CREATE KEYSPACE strong WITH replication ="
            + " {'class': 'ReplicatedLogStrategy', 'replication_factor': 3, 'groups': 2}");
    all.addAll(tables(STRONG));
    all.add("CREATE TABLE strong.counters (k int PRIMARY KEY, v counter)");
    return all;
  }

  static List<String> ofTransactions() {
    List<String> all = new ArrayList<>(tables(TRANSACTIONAL));
    for (String table : List.of("registers", "batches", "lists")) {
      all.add("ENABLE TRANSACTIONS ON " + TRANSACTIONAL + table);
    }
    return all;
  }

  private static List<String> tables(String prefix) {
    return List.of(
        "CREATE TABLE IF NOT EXISTS " + prefix + "registers (k int PRIMARY KEY, v int)",
        "CREATE TABLE IF NOT EXISTS "
            + prefix
            + "batches (k int, i int, v int, PRIMARY KEY (k, i))",
        "CREATE TABLE IF NOT EXISTS " + prefix + "lists (k int PRIMARY KEY, v list<int>)");
  }

  /** After about so many steps a table is truncated; 0 for never, as that takes all nodes. */
  int stepsPerTruncation() {
    return prefix.equals(STRONG) ? STEPS_PER_TRUNCATION : 0;
  }

  /**
   * Executes a statement on one partition. If its key is even, it goes to the leader of a strong
   * keyspace, as far as the session knows that; else to any node, which may have to pass it on. If
   * it waits long for that leader, it goes to a second node, too, where that is allowed.
   */
  private ResultSet execute(int key, String cql, Object... values) {
    String text = cql.replace("$", prefix);
    boolean goesToLeader = prefix.equals(STRONG) && key % 2 == 0;
    Statement<?> statement =
        goesToLeader && mayBeRepeated(cql)
            ? prepared.computeIfAbsent(text, session::prepare).bind(values).setIdempotent(true)
            : SimpleStatement.newInstance(text, values).setIdempotent(false);
    statement =
        statement.setConsistencyLevel(
            cql.startsWith("SELECT") ? readLevel : ConsistencyLevel.QUORUM);
    return session.execute(
        goesToLeader
            ? statement
                .setRoutingKeyspace(STRONG_KEYSPACE)
                .setRoutingKey(ByteBuffer.allocate(Integer.BYTES).putInt(0, key))
            : statement);
  }

  /** What gets a name from the client, or only reads. */
  private static boolean mayBeRepeated(String cql) {
    return !cql.contains(" IF ") && !cql.startsWith("BEGIN") && !cql.contains("UPDATE $counters");
  }

  private void truncate(String table) {
    session.execute("TRUNCATE " + prefix + table);
  }

  /** Each in one row. */
  final class InARow implements RegisterStore {
    @Override
    public void write(int key, int value) {
      var unused = execute(key, "INSERT INTO $registers (k, v) VALUES (?, ?)", key, value);
    }

    @Override
    public boolean swap(int key, Integer expected, int value) {
      ResultSet answer =
          expected == null
              ? execute(
                  key, "INSERT INTO $registers (k, v) VALUES (?, ?) IF NOT EXISTS", key, value)
              : execute(
                  key, "UPDATE $registers SET v = ? WHERE k = ? IF v = ?", value, key, expected);
      return answer.wasApplied();
    }

    @Override
    public Integer read(int key) {
      Row row = execute(key, "SELECT v FROM $registers WHERE k = ?", key).one();
      return row == null ? null : row.get(0, Integer.class);
    }

    @Override
    public void empty() {
      truncate("registers");
    }

    @Override
    public String toString() {
      return "registers in " + prefix;
    }
  }

  /** Each in all rows of a partition, which are written in one batch and read as a whole. */
  final class InABatch implements RegisterStore {
    @Override
    public void write(int key, int value) {
      var unused = execute(key, batch("DELETE FROM $batches WHERE k = %d; ", key, value, 0, ""));
    }

    @Override
    public boolean swap(int key, Integer expected, int value) {
      String first =
          expected == null
              ? "INSERT INTO $batches (k, i, v) VALUES (%d, 0, %d) IF NOT EXISTS; "
              : "UPDATE $batches SET v = %2$d WHERE k = %1$d AND i = 0 IF v = %3$d; ";
      return execute(key, batch(first, key, value, 1, expected)).wasApplied();
    }

    private static String batch(String first, int key, int value, int firstRow, Object expected) {
      StringBuilder text = new StringBuilder("BEGIN BATCH ");
      text.append(first.formatted(key, value, expected));
      for (int i = firstRow; i < ROWS; i++) {
        text.append(
            "INSERT INTO $batches (k, i, v) VALUES (%d, %d, %d); ".formatted(key, i, value));
      }
      return text.append("APPLY BATCH").toString();
    }

    @Override
    public Integer read(int key) {
      List<Integer> values = new ArrayList<>();
      execute(key, "SELECT v FROM $batches WHERE k = ?", key)
          .forEach(row -> values.add(row.get(0, Integer.class)));
      return RegisterStore.together(values, ROWS);
    }

    @Override
    public void empty() {
      truncate("batches");
    }

    @Override
    public String toString() {
      return "batches in " + prefix;
    }
  }

  /** Each in a column of CQL. */
  /** Each a row of its own. */
  final class Counters {
    void add(int key, long added) {
      var unused = execute(key, "UPDATE $counters SET v = v + ? WHERE k = ?", added, key);
    }

    /** Two additions in one request. */
    void addInParts(int key, long first, long second) {
      var unused =
          execute(
              key,
              "BEGIN COUNTER BATCH UPDATE $counters SET v = v + ? WHERE k = ?;"
                  + " UPDATE $counters SET v = v + ? WHERE k = ?; APPLY BATCH",
              first,
              key,
              second,
              key);
    }

    long read(int key) {
      Row row = execute(key, "SELECT v FROM $counters WHERE k = ?", key).one();
      return row == null ? 0 : row.getLong(0);
    }
  }

  final class Lists implements SingleLists {
    @Override
    public void append(int key, int value) {
      var unused = execute(key, "UPDATE $lists SET v = v + ? WHERE k = ?", List.of(value), key);
    }

    @Override
    public boolean appendIfThere(int key, int value) {
      return execute(key, "UPDATE $lists SET v = v + ? WHERE k = ? IF EXISTS", List.of(value), key)
          .wasApplied();
    }

    @Override
    public List<Integer> read(int key) {
      Row row = execute(key, "SELECT v FROM $lists WHERE k = ?", key).one();
      return row == null ? List.of() : row.getList(0, Integer.class);
    }
  }
}
