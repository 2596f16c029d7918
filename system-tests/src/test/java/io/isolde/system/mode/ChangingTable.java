// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.mode;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.servererrors.QueryValidationException;
import io.isolde.client.ErrorCode;
import io.isolde.client.IsoldeException;
import io.isolde.client.Transaction;
import io.isolde.system.SystemNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * A table that loses columns, rows and itself, and a model of it: what is committed is there until
 * it is taken away, and an open transaction sees the table as it was, or is refused.
 */
final class ChangingTable {
  private static final int STEPS = 70;
  private static final int IDS = 4;
  private static final int MAX_OPEN = 3;

  /** Values of the columns v and w; v may be no column now, and then is null. */
  private record Values(Integer v, Integer w) {
    static final Values NONE = new Values(null, null);

    Values with(String column, int value) {
      return column.equals("v") ? new Values(value, w) : new Values(v, value);
    }
  }

  /** A transaction with what it must see, its own writes included. */
  private static final class Open {
    final Transaction transaction;
    final TreeMap<Integer, Values> sees;
    final List<Write> writes = new ArrayList<>();
    boolean isSpoilt;

    Open(Transaction transaction, Map<Integer, Values> sees) {
      this.transaction = transaction;
      this.sees = new TreeMap<>(sees);
    }
  }

  private record Write(int id, String column, int value) {
    void to(Map<Integer, Values> rows) {
      rows.merge(id, Values.NONE.with(column, value), (old, fresh) -> old.with(column, value));
    }

    String cql(String table) {
      return "UPDATE %s SET %s = %d WHERE id = %d".formatted(table, column, value, id);
    }
  }

  private final SystemNode node;
  private final Random random;
  private final long seed;
  private final String table;
  private final List<Open> open = new ArrayList<>();
  private final List<String> history = new ArrayList<>();
  private final TreeMap<Integer, Values> rows = new TreeMap<>();
  private boolean hasV = true;
  private int written;

  ChangingTable(SystemNode node, long seed) {
    this.node = node;
    this.seed = seed;
    this.random = new Random(seed);
    this.table = node.table("id int PRIMARY KEY, v int, w int");
  }

  void run() {
    try {
      for (int step = 0; step < STEPS; step++) {
        step();
        assertThat(read(node.session().execute(select()))).isEqualTo(rows);
      }
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError(
          "seed %d, table %s: %s%n%s"
              .formatted(seed, table, e.getMessage(), String.join("\n", history)),
          e);
    } finally {
      open.forEach(one -> one.transaction.close());
    }
  }

  private void step() {
    int kind = random.nextInt(20);
    if (kind < 4) {
      begin();
    } else if (kind < 12 && !open.isEmpty()) {
      use(open.get(random.nextInt(open.size())), kind);
    } else if (kind < 16) {
      Write write = write();
      execute(write.cql(table));
      write.to(rows);
    } else if (kind == 16) {
      history.add("-- flush");
      node.flush(table);
    } else {
      change();
    }
  }

  private void begin() {
    if (open.size() == MAX_OPEN) {
      open.remove(0).transaction.close();
    }
    Open fresh = new Open(node.isolde().begin(), rows);
    open.add(fresh);
    history.add("-- begin " + fresh.transaction.id());
    assertThat(read(fresh.transaction.execute(select()))).isEqualTo(rows);
  }

  private void use(Open one, int kind) {
    history.add("-- in " + one.transaction.id());
    try {
      if (kind < 7) {
        assertThat(read(one.transaction.execute(select()))).isEqualTo(one.sees);
      } else if (kind < 10) {
        Write write = write();
        history.add(write.cql(table));
        one.transaction.execute(write.cql(table));
        one.writes.add(write);
        write.to(one.sees);
      } else {
        open.remove(one);
        commit(one);
      }
    } catch (IsoldeException e) {
      history.add("-- refused: " + e.getMessage());
      ErrorCode code = e.code();
      assertThat(code).isIn(ErrorCode.SNAPSHOT_TOO_OLD, ErrorCode.CONFLICT);
      assertThat(code == ErrorCode.CONFLICT || one.isSpoilt)
          .as("a transaction over which nothing was taken away: %s", e.getMessage())
          .isTrue();
      open.remove(one);
      one.transaction.close();
    }
  }

  private void commit(Open one) {
    history.add("-- commit");
    one.transaction.commit();
    one.writes.forEach(write -> write.to(rows));
  }

  private Write write() {
    String column = hasV && random.nextBoolean() ? "v" : "w";
    return new Write(random.nextInt(IDS), column, ++written);
  }

  private void change() {
    switch (random.nextInt(7)) {
      case 0 -> {
        execute("TRUNCATE " + table);
        rows.clear();
      }
      case 1 -> {
        execute("DROP TABLE " + table);
        execute("CREATE TABLE %s (id int PRIMARY KEY, v int, w int)".formatted(table));
        execute("ENABLE TRANSACTIONS ON " + table);
        rows.clear();
        hasV = true;
      }
      case 2 -> {
        execute("DISABLE TRANSACTIONS ON " + table);
        execute("ENABLE TRANSACTIONS ON " + table);
      }
      default -> {
        if (hasV) {
          execute("ALTER TABLE %s DROP v".formatted(table));
          rows.replaceAll((id, values) -> new Values(null, values.w()));
          // A row of which an UPDATE wrote nothing else is none.
          rows.values().removeIf(Values.NONE::equals);
          hasV = false;
        }
        if (random.nextInt(4) > 0) {
          execute("ALTER TABLE %s ADD v int".formatted(table));
          hasV = true;
        }
      }
    }
    open.forEach(one -> one.isSpoilt = true);
  }

  private void execute(String cql) {
    history.add(cql);
    try {
      node.session().execute(cql);
    } catch (QueryValidationException e) {
      throw new AssertionError(cql + ": " + e.getMessage(), e);
    }
  }

  private String select() {
    return "SELECT id, %s w FROM %s".formatted(hasV ? "v," : "", table);
  }

  private static Map<Integer, Values> read(ResultSet result) {
    Map<Integer, Values> found = new TreeMap<>();
    for (Row row : result) {
      boolean hasV = row.getColumnDefinitions().contains("v");
      found.put(
          row.getInt("id"),
          new Values(hasV ? row.get("v", Integer.class) : null, row.get("w", Integer.class)));
    }
    return found;
  }
}
