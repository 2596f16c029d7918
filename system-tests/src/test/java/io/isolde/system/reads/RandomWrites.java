// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.reads;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Writes of every kind to a table of {@link #COLUMNS}, on few rows, so that they hit each other.
 */
final class RandomWrites {

  static final int PARTITIONS = 6;
  static final int CLUSTERINGS = 5;
  private static final List<String> LETTERS = List.of("a", "b", "c");

  /** With $a for the type address. */
  static final String COLUMNS =
      "p int, c int, d text, s int static, ss set<int> static, v int, w text, m map<text, int>,"
          + " st set<int>, l list<int>, f frozen<$a>, u $a, fl frozen<list<int>>,"
          + " PRIMARY KEY (p, c, d)";

  private final Random random;

  RandomWrites(Random random) {
    this.random = random;
  }

  int partition() {
    return random.nextInt(PARTITIONS);
  }

  int clustering() {
    return random.nextInt(CLUSTERINGS);
  }

  String letter() {
    return LETTERS.get(random.nextInt(LETTERS.size()));
  }

  private int value() {
    return random.nextInt(5);
  }

  /** Any statement, a batch now and then. */
  Cql next() {
    return random.nextInt(8) == 0 ? batch() : single(partition());
  }

  /** Of distinct partitions: within one, Cassandra orders the statements of a batch by value. */
  private Cql batch() {
    List<Integer> partitions = new ArrayList<>();
    for (int p = 0; p < PARTITIONS; p++) {
      partitions.add(p);
    }
    Collections.shuffle(partitions, random);
    List<Cql> parts =
        partitions.subList(0, 2 + random.nextInt(2)).stream().map(this::single).toList();
    return new Cql(
        parts.stream()
            .map(Cql::text)
            .collect(
                Collectors.joining(
                    "; ",
                    random.nextBoolean() ? "BEGIN BATCH " : "BEGIN UNLOGGED BATCH ",
                    "; APPLY BATCH")),
        parts.stream().flatMap(part -> part.values().stream()).toList());
  }

  private Cql single(int p) {
    return switch (random.nextInt(10)) {
      case 0, 1, 2 -> insert(p);
      case 3, 4 -> update(p);
      case 5, 6 -> collection(p);
      case 7 -> deleteCells(p);
      case 8 -> deleteRows(p);
      default -> statics(p);
    };
  }

  private Cql insert(int p) {
    int c = clustering();
    String d = letter();
    return switch (random.nextInt(5)) {
      case 0 -> Cql.of("INSERT INTO $t (p, c, d) VALUES (?, ?, ?)", p, c, d);
      case 1 ->
          Cql.of(
              "INSERT INTO $t (p, c, d, v, w) VALUES (?, ?, ?, ?, ?)", p, c, d, value(), letter());
      case 2 ->
          Cql.of(
              "INSERT INTO $t (p, c, d, v, s) VALUES (?, ?, ?, ?, ?) USING TTL 1000000",
              p,
              c,
              d,
              value(),
              value());
      case 3 ->
          Cql.of(
              "INSERT INTO $t (p, c, d, m, st, l, fl) VALUES (?, ?, ?, ?, ?, ?, ?)",
              p,
              c,
              d,
              Map.of(letter(), value()),
              Set.of(value()),
              List.of(value(), value()),
              List.of(value()));
      default ->
          Cql.of(
              "INSERT INTO $t (p, c, d, v, f, u) VALUES (?, ?, ?, ?, {street: ?, number: ?}, {street: ?})",
              p,
              c,
              d,
              value(),
              letter(),
              value(),
              letter());
    };
  }

  private Cql update(int p) {
    int c = clustering();
    String d = letter();
    return switch (random.nextInt(5)) {
      case 0 -> Cql.of("UPDATE $t SET v = ? WHERE p = ? AND c = ? AND d = ?", value(), p, c, d);
      case 1 ->
          Cql.of(
              "UPDATE $t USING TTL 1000000 SET w = ?, v = ? WHERE p = ? AND c = ? AND d = ?",
              letter(),
              value(),
              p,
              c,
              d);
      case 2 ->
          Cql.of(
              "UPDATE $t SET v = ? WHERE p = ? AND c IN (?, ?) AND d = ?",
              value(),
              p,
              c,
              (c + 1) % CLUSTERINGS,
              d);
      case 3 ->
          Cql.of(
              "UPDATE $t SET u.number = ?, f = {street: ?} WHERE p = ? AND c = ? AND d = ?",
              value(),
              letter(),
              p,
              c,
              d);
      default ->
          Cql.of(
              "UPDATE $t SET v = null, w = ? WHERE p = ? AND c = ? AND d = ?", letter(), p, c, d);
    };
  }

  private Cql collection(int p) {
    String set =
        List.of(
                "m = m + {'x': 1}",
                "m['a'] = 7",
                "m = m - {'a'}",
                "m = {'y': 2, 'z': 3}",
                "m = null",
                "st = st + {8, 9}",
                "st = st - {8}",
                "st = {4}",
                "st = {}",
                "l = l + [5]",
                "l = [6] + l",
                "l = [1, 2]",
                "l = null",
                "fl = [3]",
                "u = {street: 'n', number: 1}",
                "u = null",
                "l = l + [7], st = st + {7}, m['c'] = 7")
            .get(random.nextInt(17));
    return Cql.of(
        "UPDATE $t SET " + set + " WHERE p = ? AND c = ? AND d = ?", p, clustering(), letter());
  }

  private Cql deleteCells(int p) {
    String what =
        List.of("v", "w", "v, w, m", "m['a']", "st", "l", "u.street", "u", "f")
            .get(random.nextInt(9));
    return Cql.of(
        "DELETE " + what + " FROM $t WHERE p = ? AND c = ? AND d = ?", p, clustering(), letter());
  }

  private Cql deleteRows(int p) {
    int c = clustering();
    return switch (random.nextInt(8)) {
      case 0, 1, 2 -> Cql.of("DELETE FROM $t WHERE p = ? AND c = ? AND d = ?", p, c, letter());
      case 3 -> Cql.of("DELETE FROM $t WHERE p = ? AND c = ?", p, c);
      case 4 -> Cql.of("DELETE FROM $t WHERE p = ? AND c >= ?", p, c);
      case 5 -> Cql.of("DELETE FROM $t WHERE p = ? AND c > ? AND c < ?", p, c - 2, c);
      case 6 -> Cql.of("DELETE FROM $t WHERE p = ? AND c = ? AND d > ?", p, c, letter());
      default -> Cql.of("DELETE FROM $t WHERE p = ?", p);
    };
  }

  private Cql statics(int p) {
    return switch (random.nextInt(6)) {
      case 0 -> Cql.of("UPDATE $t SET s = ? WHERE p = ?", value(), p);
      case 1 -> Cql.of("INSERT INTO $t (p, s, ss) VALUES (?, ?, ?)", p, value(), Set.of(value()));
      case 2 -> Cql.of("DELETE s FROM $t WHERE p = ?", p);
      case 3 -> Cql.of("UPDATE $t SET ss = ss + {1, 2} WHERE p = ?", p);
      case 4 -> Cql.of("DELETE s, ss FROM $t WHERE p = ?", p);
      default -> Cql.of("UPDATE $t SET ss = ss - {1} WHERE p = ?", p);
    };
  }
}
