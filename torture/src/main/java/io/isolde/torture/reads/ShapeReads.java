// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture.reads;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** SELECTs that a table of a shape ($t) can answer, above all those that count something. */
final class ShapeReads {
  /**
   * A SELECT, and how much of it is asked for at a time.
   *
   * @param pageSize {@link #ALL} for all at once
   */
  record Read(String cql, int pageSize) {
    static final int ALL = 0;

    @Override
    public String toString() {
      return cql + (pageSize == ALL ? " -- all at once" : " -- page size " + pageSize);
    }
  }

  private static final int MAX_PER_PAGE = 5;

  private final Shape shape;
  private final Random random;
  private final ShapeWrites keys;
  private final List<Read> reads = new ArrayList<>();

  private ShapeReads(Shape shape, Random random) {
    this.shape = shape;
    this.random = random;
    this.keys = new ShapeWrites(shape, random);
  }

  /** One of every kind, each with a page size of its own, in any order. */
  static List<Read> all(Shape shape, Random random) {
    ShapeReads all = new ShapeReads(shape, random);
    all.ofRanges();
    all.ofPartitions();
    if (shape.clusterings() > 0) {
      all.ofSlices();
    }
    all.ofGroups();
    all.filtered();
    return all.reads;
  }

  private void add(String what, String where) {
    reads.add(
        new Read("SELECT %s FROM $t%s".formatted(what, where), 1 + random.nextInt(MAX_PER_PAGE)));
  }

  private int few() {
    return 1 + random.nextInt(6);
  }

  private String limits() {
    return switch (random.nextInt(4)) {
      case 0 -> " LIMIT " + few();
      case 1 -> " PER PARTITION LIMIT " + few();
      case 2 -> " PER PARTITION LIMIT %d LIMIT %d".formatted(1 + random.nextInt(2), few());
      default -> "";
    };
  }

  /** Some of the columns, perhaps static ones only. */
  private String columns() {
    return any("p");
  }

  /** Some of the columns, with one that Cassandra takes for no static one. */
  private String columnsOfRows() {
    return any("p, c0");
  }

  private String any(String key) {
    List<String> some = new ArrayList<>(List.of("*", "*", key));
    shape.staticNames().forEach(name -> some.add(key + ", " + name));
    shape.regularNames().forEach(name -> some.add(key + ", " + name));
    shape.clusteringNames().forEach(name -> some.add(key + ", " + name));
    return keys.any(some);
  }

  private String distinct() {
    return shape.statics() == 0 || random.nextBoolean() ? "DISTINCT p" : "DISTINCT p, s0";
  }

  private void ofRanges() {
    String behind = " WHERE token(p) %s token(%d)";
    add("*", "");
    add(columns(), "");
    add("*", limits());
    add(columns(), limits());
    add(columns(), behind.formatted(keys.any(List.of(">", ">=", "<", "<=")), keys.partition()));
    add("*", behind.formatted(">", keys.partition()) + limits());
    add(distinct(), "");
    add(distinct(), " LIMIT " + few());
    add(distinct(), behind.formatted(">=", keys.partition()));
    add("count(*)", "");
    add("count(*)", behind.formatted(">", keys.partition()));
  }

  private String oneOfThree() {
    return " WHERE p IN (%d, %d, %d)"
        .formatted(keys.partition(), keys.partition(), keys.partition());
  }

  private void ofPartitions() {
    String one = " WHERE p = ";
    add("*", one + keys.partition());
    add(columns(), one + keys.partition() + limits());
    add("count(*)", one + keys.partition());
    add("*", oneOfThree());
    add(columns(), oneOfThree() + limits());
    add("count(*)", oneOfThree());
    if (shape.statics() > 0) {
      add("DISTINCT p, s0", one + keys.partition());
    }
  }

  private void ofSlices() {
    String one = " WHERE p = %d".formatted(keys.partition());
    String reversed = " ORDER BY " + shape.order(true);
    String slice =
        " AND c0 %s %d".formatted(keys.any(List.of("<", "<=", ">", ">=", "=")), keys.clustering());
    add("*", one + reversed);
    add(columnsOfRows(), one + reversed + limits());
    add("*", one + slice);
    add(columnsOfRows(), one + slice + limits());
    add("*", one + slice + reversed + limits());
    add("*", oneOfThree() + slice + limits());
    add("*", one + " AND c0 IN (%d, %d)".formatted(keys.clustering(), keys.clustering()));
    add("count(*)", one + slice);
  }

  private void ofGroups() {
    if (shape.clusterings() > 0) {
      add("p, count(*)", " GROUP BY p");
      add("p, count(*)", " GROUP BY p LIMIT " + few());
    } else {
      // Cassandra can't read its own paging state there, and closes the connection.
      reads.add(new Read("SELECT p, count(*) FROM $t GROUP BY p", Read.ALL));
    }
    if (shape.regulars() > 0) {
      add("count(v0), sum(v0), max(v0)", "");
    }
    if (shape.clusterings() > 0) {
      String one = " WHERE p = %d".formatted(keys.partition());
      add("p, c0, count(*)", " GROUP BY p, c0" + limits());
      add("p, c0, count(*)", one + " GROUP BY p, c0");
      add("p, c0, max(c0)", one + " GROUP BY p, c0 ORDER BY " + shape.order(true));
      add("p, c0, count(*)", oneOfThree() + " GROUP BY p, c0" + limits());
    }
  }

  private void filtered() {
    List<String> columns = shape.columns();
    if (columns.isEmpty()) {
      return;
    }
    for (String column : columns) {
      String equal = " WHERE %s = %d".formatted(column, keys.value());
      add("*", equal + limits() + " ALLOW FILTERING");
      add("*", equal + " AND p = " + keys.partition() + limits() + " ALLOW FILTERING");
      String other = keys.any(columns);
      if (!other.equals(column)) {
        String both = equal + " AND %s >= %d".formatted(other, keys.value());
        add("*", both + limits() + " ALLOW FILTERING");
      }
    }
    for (int i = 0; i < 3; i++) {
      String filter = " WHERE %s >= %d".formatted(keys.any(columns), keys.value() - 1);
      add("*", filter + limits() + " ALLOW FILTERING");
    }
    String filter = " WHERE %s = %d ALLOW FILTERING".formatted(keys.any(columns), keys.value());
    add("count(*)", filter);
  }
}
