// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.blocks;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.system.SystemNode;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Random blocks against a model: what they return, whether their conditions hold, and what is there
 * afterwards. Texts and prepared statements, with random spaces, comments and markers.
 */
class RandomBlocksTest {
  private static final SystemNode NODE = SystemNode.shared();
  private static final int BLOCKS = 150;
  private static final int KEYS = 5;
  private static final int MAX_ITEMS = 5;
  private static final int BOUND = 1_000;

  private final long seed = Long.getLong("isolde.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final String table = NODE.table("id int PRIMARY KEY, a bigint, b bigint");

  /** The table's rows; of each, its two columns, which may be null. */
  private Map<Integer, Long[]> model = new TreeMap<>();

  /** What the block has read so far, null for no row, by the names of LETs. */
  private Map<String, Long[]> read = new HashMap<>();

  private final List<Object> bound = new ArrayList<>();
  private final List<String> returned = new ArrayList<>();
  private boolean holds;
  private int lets;

  /** A value as it is written, and as it is. */
  private record Value(String text, BigInteger value) {}

  @Test
  void whenBlocksRunThenTheyDoWhatTheModelDoes() {
    for (int i = 0; i < BLOCKS; i++) {
      read = new HashMap<>();
      bound.clear();
      returned.clear();
      holds = true;
      lets = 0;
      StringBuilder text = new StringBuilder("BEGIN TRANSACTION ");
      items(text, 2, true);
      text.append(gap())
          .append("SELECT id, a, b FROM ")
          .append(table)
          .append(" WHERE id IN (0, 1, 2, 3, 4);");
      model.forEach((id, row) -> returned.add(id + " " + row[0] + " " + row[1]));
      String block = text.append(gap()).append("COMMIT TRANSACTION").toString();
      assertThat(run(block))
          .as("seed %d, block %d: %s with %s", seed, i, block, bound)
          .containsExactlyInAnyOrderElementsOf(returned);
    }
  }

  private List<String> run(String block) {
    PreparedStatement prepared = NODE.session().prepare(block);
    ResultSet answer = NODE.session().execute(prepared.bind(bound.toArray()));
    ByteBuffer applied = answer.getExecutionInfo().getIncomingPayload().get("isolde-applied");
    if (applied != null) {
      assertThat(StandardCharsets.UTF_8.decode(applied.duplicate()).toString())
          .as("seed %d: %s", seed, block)
          .isEqualTo(String.valueOf(holds));
    }
    List<String> rows = new ArrayList<>();
    for (Row row : answer) {
      rows.add(row.getInt(0) + " " + row.getObject(1) + " " + row.getObject(2));
    }
    return rows;
  }

  private String gap() {
    return switch (random.nextInt(6)) {
      case 0 -> " /* LET x = (1); */ ";
      case 1 -> "\n";
      case 2 -> " -- END IF\n";
      default -> " ";
    };
  }

  /**
   * Writes items, and does what they do if they are on the way that is gone.
   *
   * @param isRun whether they are
   */
  private void items(StringBuilder text, int depth, boolean isRun) {
    for (int i = random.nextInt(MAX_ITEMS); i >= 0; i--) {
      text.append(gap());
      switch (random.nextInt(depth > 0 ? 6 : 4)) {
        case 0, 1 -> let(text, isRun);
        case 2 -> update(text, isRun);
        case 3 -> delete(text, isRun);
        default -> choice(text, depth, isRun);
      }
    }
  }

  private void let(StringBuilder text, boolean isRun) {
    String name = "r" + lets++;
    Value key = key();
    text.append("LET %s = (SELECT * FROM %s WHERE id = %s);".formatted(name, table, key.text()));
    Long[] row = isRun ? model.get(key.value().intValue()) : null;
    read.put(name, row == null ? null : row.clone());
  }

  private Value key() {
    int key = random.nextInt(KEYS);
    if (random.nextBoolean()) {
      return new Value("" + key, BigInteger.valueOf(key));
    }
    bound.add(key);
    return new Value("?", BigInteger.valueOf(key));
  }

  private void update(StringBuilder text, boolean isRun) {
    int key = random.nextInt(KEYS); // Its marker would come last in the text.
    String column = random.nextBoolean() ? "a" : "b";
    int place = column.equals("a") ? 0 : 1;
    Long[] row = model.get(key);
    Long before = row == null ? null : row[place];
    int form = random.nextInt(3);
    text.append("UPDATE ").append(table).append(gap()).append("SET ").append(column);
    text.append(
        switch (form) {
          case 0 -> " =" + gap();
          case 1 -> " += ";
          default -> " = " + column + " - ";
        });
    Value value = form == 0 ? small() : notNull();
    text.append(value.text()).append(" WHERE id = ").append(key).append(";");
    if (isRun && (form == 0 || before != null)) {
      long changed = value.value() == null ? 0 : value.value().longValueExact();
      Long after =
          switch (form) {
            case 0 -> value.value() == null ? null : Long.valueOf(changed);
            case 1 -> before + changed;
            default -> before - changed;
          };
      set(key, place, after);
    }
  }

  private void set(int key, int place, Long value) {
    Long[] row = model.computeIfAbsent(key, absent -> new Long[2]);
    row[place] = value;
    if (row[0] == null && row[1] == null) {
      model.remove(key); // Only UPDATE makes rows.
    }
  }

  /** What fits a column. */
  private Value small() {
    Value value = expression(2);
    if (!value.text().startsWith("(")) {
      return value;
    }
    return new Value(
        value.text() + " % " + BOUND,
        value.value() == null ? null : value.value().remainder(BigInteger.valueOf(BOUND)));
  }

  private Value notNull() {
    long value = random.nextInt(BOUND);
    if (random.nextBoolean()) {
      bound.add(value);
      return new Value("?", BigInteger.valueOf(value));
    }
    return new Value("" + value, BigInteger.valueOf(value));
  }

  private void delete(StringBuilder text, boolean isRun) {
    Value key = key();
    text.append("DELETE FROM ").append(table).append(" WHERE id = ").append(key.text()).append(";");
    if (isRun) {
      model.remove(key.value().intValue());
    }
  }

  private void choice(StringBuilder text, int depth, boolean isRun) {
    List<String> names = new ArrayList<>(read.keySet());
    if (names.isEmpty()) {
      let(text, isRun);
      return;
    }
    text.append("IF ");
    boolean isTrue = condition(text, 2);
    text.append(gap()).append("THEN");
    branch(text, depth, isRun && isTrue);
    if (random.nextBoolean()) {
      text.append(" ELSE");
      branch(text, depth, isRun && !isTrue);
    }
    text.append(" END IF").append(random.nextBoolean() ? ";" : "");
    holds &= isTrue || !isRun;
  }

  /** What is read in it is not known after it. */
  private void branch(StringBuilder text, int depth, boolean isRun) {
    Map<String, Long[]> before = read;
    read = new HashMap<>(before);
    items(text, depth - 1, isRun);
    read = before;
  }

  private boolean condition(StringBuilder text, int depth) {
    int kind = random.nextInt(depth > 0 ? 5 : 2);
    if (kind == 0) {
      String name = anyName();
      boolean isNot = random.nextBoolean();
      text.append(name).append(isNot ? " IS NOT NULL" : " IS NULL");
      return (read.get(name) == null) != isNot;
    } else if (kind == 1) {
      return comparison(text);
    } else if (kind == 2) {
      text.append("NOT (");
      boolean holds = condition(text, depth - 1);
      text.append(")");
      return !holds;
    }
    text.append("(");
    boolean left = condition(text, depth - 1);
    text.append(kind == 3 ? ") AND (" : ") OR (");
    boolean right = condition(text, depth - 1);
    text.append(")");
    return kind == 3 ? left && right : left || right;
  }

  private boolean comparison(StringBuilder text) {
    Value reference = reference();
    int relation = random.nextInt(6);
    text.append(reference.text())
        .append(" ")
        .append(List.of("=", "!=", "<", "<=", ">", ">=").get(relation))
        .append(" ");
    Value other = expression(1);
    text.append(other.text());
    if (reference.value() == null || other.value() == null) {
      return false;
    }
    int compared = reference.value().compareTo(other.value());
    return switch (relation) {
      case 0 -> compared == 0;
      case 1 -> compared != 0;
      case 2 -> compared < 0;
      case 3 -> compared <= 0;
      case 4 -> compared > 0;
      default -> compared >= 0;
    };
  }

  private String anyName() {
    List<String> names = read.keySet().stream().sorted().toList();
    return names.get(random.nextInt(names.size()));
  }

  private Value reference() {
    String name = anyName();
    int place = random.nextInt(2);
    Long[] row = read.get(name);
    boolean isNull = row == null || row[place] == null;
    return new Value(
        name + (place == 0 ? ".a" : ".b"), isNull ? null : BigInteger.valueOf(row[place]));
  }

  private Value expression(int depth) {
    if (depth == 0 || random.nextInt(3) == 0) {
      return read.isEmpty() || random.nextInt(3) == 0 ? notNull() : reference();
    }
    Value left = expression(depth - 1);
    if (read.isEmpty()) {
      return left; // Without a column of a row, Cassandra itself calculates, and wants types.
    }
    int operator = random.nextInt(3);
    Value right = reference();
    // Markers stay in their order.
    boolean isSwapped = !left.text().contains("?") && random.nextBoolean();
    Value one = isSwapped ? right : left;
    Value other = isSwapped ? left : right;
    String text =
        "(" + one.text() + gap() + List.of("+ ", "- ", "* ").get(operator) + other.text() + ")";
    return new Value(text, calculated(one.value(), other.value(), operator));
  }

  private static BigInteger calculated(BigInteger left, BigInteger right, int operator) {
    if (left == null || right == null) {
      return null;
    }
    return switch (operator) {
      case 0 -> left.add(right);
      case 1 -> left.subtract(right);
      default -> left.multiply(right);
    };
  }
}
