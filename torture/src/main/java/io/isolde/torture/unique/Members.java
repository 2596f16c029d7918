// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture.unique;

import com.datastax.oss.driver.api.core.cql.Row;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Members of teams, with unique addresses, and names that are unique in their team. Many write the
 * same few values in every way; rows and entries must agree in each snapshot, one to one.
 */
public final class Members {
  private static final int TEAMS = 3;
  private static final int MEMBERS = 4;
  private static final int EMAILS = 8;
  private static final int NAMES = 3;
  private static final int KINDS = 13;

  private final String keyspace;
  private final int firstTeam;

  /**
   * @param firstTeam its number; others that use the table have other teams
   */
  public Members(String keyspace, int firstTeam) {
    this.keyspace = keyspace;
    this.firstTeam = firstTeam;
  }

  /** The statements that make the table and its indexes. */
  public List<String> tables() {
    return List.of(
        in(
            "CREATE TABLE IF NOT EXISTS %s.members (team int, id int, email text, name text, v int,"
                + " PRIMARY KEY (team, id))"),
        in("ENABLE TRANSACTIONS ON %s.members"),
        in("CREATE UNIQUE INDEX IF NOT EXISTS members_email ON %s.members (email)"),
        in("CREATE UNIQUE INDEX IF NOT EXISTS members_name ON %s.members (team, name)"));
  }

  private String in(String cql) {
    return cql.formatted(keyspace);
  }

  private String email(Random random) {
    return "e%d-%d".formatted(firstTeam, random.nextInt(EMAILS));
  }

  private static String name(Random random) {
    return "n" + random.nextInt(NAMES);
  }

  private int team(Random random) {
    return firstTeam + random.nextInt(TEAMS);
  }

  private String member(Random random) {
    return "team = %d AND id = %d".formatted(team(random), random.nextInt(MEMBERS));
  }

  /** A random statement or batch that writes. */
  public String change(Random random) {
    String table = keyspace + ".members";
    return switch (random.nextInt(KINDS)) {
      case 0, 1 -> insert(table, "", random);
      case 2 -> insert(table, " IF NOT EXISTS", random);
      case 3 -> insert(table, " USING TTL " + (1 + random.nextInt(5)), random);
      case 4 ->
          "UPDATE %s SET email = '%s' WHERE %s".formatted(table, email(random), member(random));
      case 5 ->
          "UPDATE %s SET email = '%s', name = '%s' WHERE %s IF v > 2"
              .formatted(table, email(random), name(random), member(random));
      case 6 -> "UPDATE %s SET name = '%s' WHERE %s".formatted(table, name(random), member(random));
      case 7 -> "UPDATE %s SET email = null WHERE %s".formatted(table, member(random));
      case 8 -> "UPDATE %s SET v = %d WHERE %s".formatted(table, random.nextInt(5), member(random));
      case 9 -> "DELETE FROM %s WHERE %s".formatted(table, member(random));
      case 10 ->
          "DELETE FROM %s WHERE team = %d AND id > %d"
              .formatted(table, team(random), random.nextInt(MEMBERS));
      case 11 ->
          random.nextInt(3) == 0
              ? "DELETE FROM %s WHERE team = %d".formatted(table, team(random))
              : "DELETE email FROM %s WHERE %s".formatted(table, member(random));
      default -> exchange(table, random);
    };
  }

  private String insert(String table, String condition, Random random) {
    return "INSERT INTO %s (team, id, email, name, v) VALUES (%d, %d, '%s', '%s', %d)%s"
        .formatted(
            table,
            team(random),
            random.nextInt(MEMBERS),
            email(random),
            name(random),
            random.nextInt(5),
            condition);
  }

  private String exchange(String table, Random random) {
    return "BEGIN BATCH UPDATE %1$s SET email = '%2$s' WHERE %3$s;"
            .formatted(table, email(random), member(random))
        + " UPDATE %1$s SET email = '%2$s' WHERE %3$s APPLY BATCH"
            .formatted(table, email(random), member(random));
  }

  /**
   * What must not be.
   *
   * @param read reads in one snapshot
   */
  public List<String> violations(Function<String, Iterable<Row>> read) {
    List<Row> rows = new ArrayList<>();
    read.apply(in("SELECT team, id, email, name FROM %s.members")).forEach(rows::add);
    rows.removeIf(row -> !isOurs(row));
    List<String> violations = new ArrayList<>();
    compare(rows, "email", read, violations);
    compare(rows, "name", read, violations);
    readByIndex(rows, read, violations);
    return violations;
  }

  private boolean isOurs(Row row) {
    int team = row.getInt("team");
    return team >= firstTeam && team < firstTeam + TEAMS;
  }

  private void compare(
      List<Row> rows,
      String column,
      Function<String, Iterable<Row>> read,
      List<String> violations) {
    List<String> expected = new ArrayList<>();
    for (Row row : rows) {
      if (!row.isNull(column)) {
        expected.add(line(row, column));
      }
    }
    List<String> entries = new ArrayList<>();
    for (Row row : read.apply(in("SELECT team, id, " + column + " FROM %s.members_" + column))) {
      if (isOurs(row)) {
        entries.add(line(row, column));
      }
    }
    if (!new TreeSet<>(expected).equals(new TreeSet<>(entries))) {
      violations.add("rows %s, entries %s".formatted(sorted(expected), sorted(entries)));
    }
    Map<String, Long> owners =
        rows.stream()
            .filter(row -> !row.isNull(column))
            .collect(Collectors.groupingBy(row -> value(row, column), Collectors.counting()));
    owners.forEach(
        (value, count) -> {
          if (count > 1) {
            violations.add("%d rows have %s".formatted(count, value));
          }
        });
  }

  private static List<String> sorted(List<String> lines) {
    return lines.stream().sorted().toList();
  }

  private static String value(Row row, String column) {
    String value = row.getString(column);
    return column.equals("name") ? row.getInt("team") + " " + value : value;
  }

  private static String line(Row row, String column) {
    return "%s at %d %d".formatted(row.getString(column), row.getInt("team"), row.getInt("id"));
  }

  private void readByIndex(
      List<Row> rows, Function<String, Iterable<Row>> read, List<String> violations) {
    Map<String, String> byEmail = new HashMap<>();
    for (int i = 0; i < EMAILS; i++) {
      byEmail.put("e%d-%d".formatted(firstTeam, i), "nobody");
    }
    for (Row row : rows) {
      if (!row.isNull("email")) {
        byEmail.put(row.getString("email"), line(row, "email"));
      }
    }
    byEmail.forEach(
        (email, expected) ->
            compareFound(read, "email = '" + email + "'", "email", expected, violations));
    Map<String, String> byName = new HashMap<>();
    for (int team = firstTeam; team < firstTeam + TEAMS; team++) {
      for (int i = 0; i < NAMES; i++) {
        byName.put("team = %d AND name = 'n%d'".formatted(team, i), "nobody");
      }
    }
    for (Row row : rows) {
      if (!row.isNull("name")) {
        byName.put(
            "team = %d AND name = '%s'".formatted(row.getInt("team"), row.getString("name")),
            line(row, "name"));
      }
    }
    byName.forEach((where, expected) -> compareFound(read, where, "name", expected, violations));
  }

  private void compareFound(
      Function<String, Iterable<Row>> read,
      String where,
      String column,
      String expected,
      List<String> violations) {
    List<String> found = new ArrayList<>();
    for (Row row : read.apply(in("SELECT team, id, email, name FROM %s.members WHERE " + where))) {
      found.add(line(row, column));
    }
    if (!found.equals(expected.equals("nobody") ? List.of() : List.of(expected))) {
      violations.add("by %s: %s, not %s".formatted(where, found, expected));
    }
  }
}
