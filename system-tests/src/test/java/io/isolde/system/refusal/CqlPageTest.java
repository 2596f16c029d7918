// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.refusal;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.servererrors.QueryValidationException;
import io.isolde.client.IsoldeException;
import io.isolde.client.Transaction;
import io.isolde.system.SystemNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Executes all examples of {@code docs/cql.md}: each is taken or refused as the page says. */
class CqlPageTest {
  private static final SystemNode NODE = SystemNode.shared();
  private static final Path PAGE = Path.of("../docs/cql.md");
  private static final String YES = "yes";
  private static final String CASSANDRAS = "Cassandra's";
  private static final String NOT_EXECUTED = "–";
  private static final int MIN_EXAMPLES = 120;

  private static final Pattern OF_ROWS = Pattern.compile("SELECT|INSERT|UPDATE|DELETE|BEGIN");

  private static final String ROWS =
      "INSERT INTO $t JSON '{\"p\": %d, \"c\": 1, \"d\": 1, \"s\": 1, \"sl\": [1], \"v\": 1, \"w\":"
          + " \"x\", \"b\": 1, \"l\": [1, 2], \"k\": [1], \"m\": {\"a\": 1}, \"u\": {\"a\": 1},"
          + " \"e\": [1, 2], \"i\": 1, \"x\": 1}'";

  /** The columns of the page, in their order. */
  private enum Place {
    TABLE,
    INSIDE,
    STRONG;

    String keyspace() {
      return this == STRONG ? "cqlstrong" : "cqlpage";
    }

    String on(String text) {
      return text.replace("$t", keyspace() + ".t")
          .replace("$o", keyspace() + ".o")
          .replace("$y", keyspace() + ".y")
          .replace("$plain", keyspace() + ".plain")
          .replace("$counters", keyspace() + ".counters")
          .replace("$view", (this == STRONG ? "cqlpage" : keyspace()) + ".mv")
          .replace("$mode", name().toLowerCase(Locale.ROOT))
          .replace("$k", keyspace());
    }

    void execute(String cql) {
      NODE.session().execute(on(cql));
    }
  }

  private record Example(String form, String cql, Map<Place, String> expected) {}

  @Test
  void whenAnExampleIsExecutedThenItIsTakenOrRefusedAsThePageSays() throws IOException {
    String page = Files.readString(PAGE);
    createTables(page);
    List<String> wrong = new ArrayList<>();
    List<Example> examples = examples(page);
    assertThat(examples).hasSizeGreaterThan(MIN_EXAMPLES);
    for (Example example : examples) {
      if (OF_ROWS.matcher(example.cql()).lookingAt()) {
        rows();
      }
      for (Place place : List.of(Place.INSIDE, Place.TABLE, Place.STRONG)) {
        String expected = example.expected().get(place);
        String seen = expected.equals(NOT_EXECUTED) ? expected : execute(example.cql(), place);
        if (!seen.startsWith(expected)) {
          wrong.add("%s %s: %s: %s".formatted(example.form(), place, example.cql(), seen));
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  private static String execute(String cql, Place place) {
    try {
      if (place == Place.INSIDE) {
        try (Transaction transaction = NODE.isolde().begin()) {
          transaction.execute(place.on(cql));
        }
      } else {
        place.execute(cql);
      }
      return YES;
    } catch (RuntimeException e) {
      return IsoldeException.find(e)
          .map(found -> found.code() + " " + found.getMessage())
          .orElse((e instanceof QueryValidationException ? CASSANDRAS + " " : "failed ") + e);
    }
  }

  private static void createTables(String page) {
    String replication = " WITH replication = {'class': '%s', 'replication_factor': 1}";
    NODE.session().execute("CREATE KEYSPACE cqlpage" + replication.formatted("SimpleStrategy"));
    NODE.session()
        .execute(
            "CREATE KEYSPACE cqlstrong"
                + replication.formatted("io.isolde.replication.ReplicatedLogStrategy"));
    for (Place place : List.of(Place.TABLE, Place.STRONG)) {
      Matcher blocks = Pattern.compile("(?s)```cql\n(.*?)```").matcher(page);
      while (blocks.find()) {
        for (String statement : blocks.group(1).split(";\n", -1)) {
          if (!statement.isBlank()) {
            place.execute(statement);
          }
        }
      }
      place.execute("CREATE TABLE $plain (id int PRIMARY KEY, v int)");
      place.execute("CREATE TABLE $counters (id int PRIMARY KEY, n counter)");
      place.execute(
          "CREATE FUNCTION $k.cql_g (a int, b int) RETURNS NULL ON NULL INPUT RETURNS int"
              + " LANGUAGE java AS 'return a;'");
    }
    Place.TABLE.execute(
        "CREATE MATERIALIZED VIEW $view AS SELECT * FROM $o WHERE v IS NOT NULL AND id IS NOT NULL"
            + " PRIMARY KEY (v, id)");
    for (String table : List.of("$t", "$o", "$y")) {
      Place.TABLE.execute("ENABLE TRANSACTIONS ON " + table);
    }
  }

  private static void rows() {
    for (Place place : List.of(Place.TABLE, Place.STRONG)) {
      place.execute(ROWS.formatted(1));
      place.execute(ROWS.formatted(2));
    }
  }

  private static List<Example> examples(String page) {
    List<Example> examples = new ArrayList<>();
    for (String line : page.lines().toList()) {
      String[] cells = line.split("\\|", -1);
      if (cells.length != 8 || !cells[2].strip().startsWith("`")) {
        continue;
      }
      Map<Place, String> expected = new EnumMap<>(Place.class);
      int column = 3;
      for (Place place : Place.values()) {
        expected.put(place, cells[column++].strip().replace("`", ""));
      }
      String cql = cells[2].strip();
      examples.add(new Example(cells[1].strip(), cql.substring(1, cql.length() - 1), expected));
    }
    return examples;
  }
}
