// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.apply.Stamp;
import io.isolde.statement.StatementMutations;
import io.isolde.testing.CassandraInProcess;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.cassandra.cql3.BatchQueryOptions;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.UntypedResultSet;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.transport.Dispatcher;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Counters as a log writes them, which a replica may apply again from any entry on. */
class DecidedCountersTest {
  private static final int STEPS = 300;
  private static final int ROWS = 4;

  private final List<List<Mutation>> log = new ArrayList<>();
  private long micros = System.currentTimeMillis() * 1_000;

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    CassandraInProcess.execute(
        "CREATE TABLE test.counted (p int, c int, s counter static, a counter, b counter,"
            + " PRIMARY KEY (p, c))");
  }

  @AfterAll
  static void end() {
    CassandraInProcess.execute("DROP TABLE test.counted");
  }

  private static long nowInSeconds() {
    return System.currentTimeMillis() / 1_000;
  }

  private static List<PartitionUpdate> updates(String... texts) {
    ClientState client = ClientState.forInternalCalls();
    List<ModificationStatement> statements = new ArrayList<>();
    for (String text : texts) {
      statements.add((ModificationStatement) QueryProcessor.getStatement(text, client));
    }
    return StatementMutations.of(
        statements,
        client,
        BatchQueryOptions.withoutPerStatementVariables(QueryOptions.DEFAULT),
        true,
        1,
        nowInSeconds(),
        Dispatcher.RequestTime.forImmediateExecution());
  }

  private void decide(String... texts) {
    micros += 2;
    List<PartitionUpdate> counted =
        updates(texts).stream()
            .map(update -> DecidedCounters.counted(update, micros, nowInSeconds()))
            .toList();
    log.add(entry(Payload.encode(new Payload.Updates(counted, Payload.Timestamps.OF_THE_LOG))));
    log.get(log.size() - 1).forEach(Mutation::apply);
  }

  /** As a follower reads it, which has nothing but the bytes. */
  private List<Mutation> entry(byte[] bytes) {
    try {
      Payload.Updates read = (Payload.Updates) Payload.decode(bytes, false, false, new HashSet<>());
      return Stamp.mutations(read.updates(), micros, false);
    } catch (Payload.UnknownSchemaException e) {
      throw new AssertionError(e);
    }
  }

  /** As a replica that starts again. */
  private void replayFrom(int index) {
    for (List<Mutation> entry : log.subList(index, log.size())) {
      entry.forEach(Mutation::apply);
    }
  }

  private static Long value(UntypedResultSet.Row row, String column) {
    return row.has(column) ? row.getLong(column) : null;
  }

  private static Map<String, Long> stored(int key) {
    Map<String, Long> values = new HashMap<>();
    for (var row : CassandraInProcess.execute("SELECT * FROM test.counted WHERE p = " + key)) {
      values.put("s", value(row, "s"));
      if (row.has("c")) {
        values.put("a" + row.getInt("c"), value(row, "a"));
        values.put("b" + row.getInt("c"), value(row, "b"));
      }
    }
    values.values().removeIf(value -> value == null);
    return values;
  }

  @Test
  void whenACounterIsAddedToTwiceInABatchThenBothCount() {
    decide(
        "UPDATE test.counted SET a = a + 2 WHERE p = -1 AND c = 0",
        "UPDATE test.counted SET a = a + 3, b = b - 1 WHERE p = -1 AND c = 0",
        "UPDATE test.counted SET s = s + 7 WHERE p = -1");
    assertThat(stored(-1))
        .containsOnly(Map.entry("a0", 5L), Map.entry("b0", -1L), Map.entry("s", 7L));
  }

  @Test
  void whenAColumnIsDeletedThenItCountsFromZeroAndOthersStay() {
    decide("UPDATE test.counted SET a = a + 2, b = b + 5 WHERE p = -2 AND c = 0");
    decide("DELETE a FROM test.counted WHERE p = -2 AND c = 0");
    assertThat(stored(-2)).containsOnly(Map.entry("b0", 5L));
    decide("UPDATE test.counted SET a = a + 1, b = b + 1 WHERE p = -2 AND c = 0");
    replayFrom(0);
    assertThat(stored(-2)).containsOnly(Map.entry("a0", 1L), Map.entry("b0", 6L));
  }

  @Test
  void whenABatchDeletesAPartitionAndAddsThenItCountsFromZero() {
    decide("UPDATE test.counted SET a = a + 2, s = s + 1 WHERE p = -3 AND c = 0");
    decide(
        "DELETE FROM test.counted WHERE p = -3",
        "DELETE a FROM test.counted WHERE p = -3 AND c = 0");
    decide("UPDATE test.counted SET a = a + 5 WHERE p = -3 AND c = 0");
    assertThat(stored(-3)).containsOnly(Map.entry("a0", 5L));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void whenTheLogIsAppliedAgainThenItCountsOnce(long seed) {
    Random random = new Random(seed);
    int key = (int) seed;
    Map<String, Long> expected = new HashMap<>();
    for (int step = 0; step < STEPS; step++) {
      int row = random.nextInt(ROWS);
      String where = " WHERE p = %d AND c = %d".formatted(key, row);
      String column = random.nextBoolean() ? "a" : "b";
      switch (random.nextInt(12)) {
        case 0 -> {
          decide("DELETE FROM test.counted" + where);
          expected.remove("a" + row);
          expected.remove("b" + row);
        }
        case 1 -> {
          decide("DELETE %s FROM test.counted%s".formatted(column, where));
          expected.remove(column + row);
        }
        case 2 -> {
          decide("DELETE FROM test.counted WHERE p = %d AND c > %d".formatted(key, row));
          expected.keySet().removeIf(name -> name.length() == 2 && name.charAt(1) - '0' > row);
        }
        case 3 -> {
          if (random.nextInt(8) == 0) {
            decide("DELETE FROM test.counted WHERE p = " + key);
            expected.clear();
          }
        }
        case 4 -> {
          decide("UPDATE test.counted SET s = s + 1 WHERE p = " + key);
          expected.merge("s", 1L, Long::sum);
        }
        case 5 -> CassandraInProcess.flush("counted");
        case 6 -> replayFrom(random.nextInt(log.size() + 1));
        default -> {
          long add = random.nextInt(-50, 50);
          decide("UPDATE test.counted SET %s = %<s + %d%s".formatted(column, add, where));
          expected.merge(column + row, add, Long::sum);
        }
      }
      assertThat(stored(key)).as("seed %d, step %d", seed, step).isEqualTo(expected);
    }
  }
}
