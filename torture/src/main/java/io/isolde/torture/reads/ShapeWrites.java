// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture.reads;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;

/**
 * Statements that write to a table of a shape ($t), so that there are partitions of every kind:
 * with static columns only, with rows that were deleted or have expired, wholly deleted, and empty.
 */
final class ShapeWrites {
  static final int PARTITIONS = 7;
  static final int CLUSTERINGS = 3;

  /** After so long what {@link #expiring} writes is gone. */
  static final int TTL_SECONDS = 1;

  private final Shape shape;
  private final Random random;

  ShapeWrites(Shape shape, Random random) {
    this.shape = shape;
    this.random = random;
  }

  int partition() {
    return random.nextInt(PARTITIONS);
  }

  int clustering() {
    return random.nextInt(CLUSTERINGS);
  }

  int value() {
    return random.nextInt(4);
  }

  /** So many statements of any kind that stays. */
  List<String> some(int count) {
    List<String> writes = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      writes.add(one(""));
    }
    return writes;
  }

  /** So many, of which a part will have expired soon. */
  List<String> expiring(int count) {
    List<String> writes = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      writes.add(one(random.nextInt(3) == 0 ? "" : " USING TTL " + TTL_SECONDS));
    }
    return writes;
  }

  private String one(String ttl) {
    int p = partition();
    return switch (random.nextInt(10)) {
      case 0, 1, 2 -> insert(p, ttl);
      case 3 -> updated(shape.regularNames(), p, ttl, true);
      case 4, 5, 6 -> updated(shape.staticNames(), p, ttl, false);
      case 7 -> "DELETE FROM $t WHERE p = %d".formatted(p);
      case 8 -> deletedRows(p);
      default -> deletedCell(p);
    };
  }

  private String insert(int p, String ttl) {
    List<String> names = new ArrayList<>(List.of("p"));
    List<Integer> values = new ArrayList<>(List.of(p));
    for (String name : shape.clusteringNames()) {
      names.add(name);
      values.add(clustering());
    }
    for (String name : rest()) {
      names.add(name);
      values.add(value());
    }
    return "INSERT INTO $t (%s) VALUES (%s)%s".formatted(commas(names), commas(values), ttl);
  }

  /** Some of the columns that are no part of the key. */
  private List<String> rest() {
    List<String> rest = new ArrayList<>(shape.regularNames());
    rest.addAll(shape.staticNames());
    Collections.shuffle(rest, random);
    return rest.subList(0, random.nextInt(rest.size() + 1));
  }

  private String updated(List<String> columns, int p, String ttl, boolean isOfRow) {
    if (columns.isEmpty()) {
      return insert(p, ttl);
    }
    return "UPDATE $t%s SET %s = %d WHERE p = %d%s"
        .formatted(ttl, any(columns), value(), p, isOfRow ? ofRow(shape.clusterings()) : "");
  }

  private String deletedRows(int p) {
    if (shape.clusterings() == 0) {
      return "DELETE FROM $t WHERE p = %d".formatted(p);
    }
    int given = random.nextInt(shape.clusterings() + 1);
    if (given == shape.clusterings()) {
      return "DELETE FROM $t WHERE p = %d%s".formatted(p, ofRow(given));
    }
    return "DELETE FROM $t WHERE p = %d%s AND c%d %s %d"
        .formatted(p, ofRow(given), given, any(List.of("<", "<=", ">", ">=")), clustering());
  }

  private String deletedCell(int p) {
    boolean isStatic = shape.statics() > 0 && (shape.regulars() == 0 || random.nextBoolean());
    List<String> columns = isStatic ? shape.staticNames() : shape.regularNames();
    return columns.isEmpty()
        ? deletedRows(p)
        : "DELETE %s FROM $t WHERE p = %d%s"
            .formatted(any(columns), p, isStatic ? "" : ofRow(shape.clusterings()));
  }

  private String ofRow(int clusterings) {
    return shape.clusteringNames().stream()
        .limit(clusterings)
        .map(name -> " AND %s = %d".formatted(name, clustering()))
        .collect(Collectors.joining());
  }

  String any(List<String> of) {
    return of.get(random.nextInt(of.size()));
  }

  private static String commas(List<?> of) {
    return of.stream().map(String::valueOf).collect(Collectors.joining(", "));
  }
}
