// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.watching;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever changes what a SELECT returns is reported to clients that watch it. Random writes of all
 * kinds, and the SELECTs before and after each of them.
 */
class RandomWatchesTest {
  private static final SystemNode NODE = SystemNode.shared();
  private static final int STEPS = 120;
  private static final int WATCHES = 12;
  private static final int SOON_MILLIS = 10_000;

  private static final String COLUMNS =
      "p int, c int, v int, l list<int>, s int static, PRIMARY KEY (p, c)";

  private String table;
  private Random random;

  private static CqlSession session() {
    return NODE.session();
  }

  private int p() {
    return random.nextInt(3);
  }

  private int c() {
    return random.nextInt(5);
  }

  private String row() {
    return "p = %d AND c = %d".formatted(p(), c());
  }

  private String write() {
    return switch (random.nextInt(9)) {
      case 0, 1 ->
          "INSERT INTO %s (p, c, v) VALUES (%d, %d, %d)"
              .formatted(table, p(), c(), random.nextInt());
      case 2 -> "UPDATE %s SET v = %d WHERE %s".formatted(table, random.nextInt(), row());
      case 3 -> "UPDATE %s SET l = l + [1] WHERE %s".formatted(table, row());
      case 4 -> "UPDATE %s SET s = %d WHERE p = %d".formatted(table, random.nextInt(), p());
      case 5 -> "DELETE FROM %s WHERE %s".formatted(table, row());
      case 6 -> "DELETE v FROM %s WHERE %s".formatted(table, row());
      case 7 -> "DELETE FROM %s WHERE p = %d AND c > %d".formatted(table, p(), c());
      default -> "DELETE FROM %s WHERE p = %d".formatted(table, p());
    };
  }

  private String statement() {
    if (random.nextInt(4) > 0) {
      return write();
    }
    return IntStream.range(0, 1 + random.nextInt(3))
        .mapToObj(i -> write() + ";")
        .collect(Collectors.joining(" ", "BEGIN BATCH ", " APPLY BATCH"));
  }

  private String watched() {
    return switch (random.nextInt(7)) {
      case 0 -> " WHERE p = %d".formatted(p());
      case 1 -> " WHERE p = %d AND c >= %d".formatted(p(), c());
      case 2 -> " WHERE p IN (%d, %d)".formatted(p(), 3 + p());
      case 3 -> " WHERE token(p) >= token(%d)".formatted(p());
      case 4 -> "";
      default -> " WHERE " + row();
    };
  }

  private List<List<String>> read(List<String> watches) {
    return watches.stream()
        .map(watch -> Results.lines(session().execute("SELECT * FROM " + table + watch)))
        .toList();
  }

  @ParameterizedTest
  @ValueSource(longs = {11, 12})
  void whenAWriteChangesAResultThenItsWatchIsTold(long seed) {
    table = NODE.table(COLUMNS);
    check(seed);
  }

  @ParameterizedTest
  @ValueSource(longs = {13, 14})
  void whenAWriteOfAStrongKeyspaceChangesAResultThenItsWatchIsTold(long seed) {
    session()
        .execute(
            "CREATE KEYSPACE IF NOT EXISTS strongly WITH replication ="
                + " {'class': 'ReplicatedLogStrategy', 'replication_factor': 1}");
    table = "strongly.t" + seed;
    session().execute("CREATE TABLE %s (%s)".formatted(table, COLUMNS));
    check(seed);
  }

  private void check(long seed) {
    random = new Random(seed);
    List<String> watches = new ArrayList<>();
    for (int i = 0; i < WATCHES; i++) {
      watches.add(watched());
    }
    int notification = 0;
    int silent = 0;
    for (int step = 0; step < STEPS; step++) {
      List<List<String>> before = read(watches);
      long position = Asked.now(session(), table);
      String statement = statement();
      session().execute(statement);
      List<List<String>> after = read(watches);
      for (int i = 0; i < WATCHES; i++) {
        boolean hasChanged = !before.get(i).equals(after.get(i));
        Asked asked =
            Asked.of(
                session(),
                "SELECT CHANGES FROM " + table + watches.get(i),
                position,
                hasChanged ? SOON_MILLIS : 0);
        if (hasChanged) {
          assertThat(asked.changes())
              .as("seed %d, step %d: %s reported to%s", seed, step, statement, watches.get(i))
              .hasSize(1);
        }
        notification += asked.changes().size();
        silent += asked.changes().isEmpty() ? 1 : 0;
      }
    }
    assertThat(notification).isPositive();
    assertThat(silent).as("those that have nothing to do with a write").isPositive();
  }
}
