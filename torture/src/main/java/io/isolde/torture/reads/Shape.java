// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture.reads;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The columns of a table, all of them numbers: a partition key p, and what there is else.
 *
 * @param descending of each clustering column c0, c1, …, whether its order is
 * @param statics how many static columns s0, s1, … there are
 * @param regulars how many regular columns v0, v1, … there are
 * @param isReadRepaired whether reads mend replicas
 * @param indexes statements that make indexes of the transactional table ($t) while it is empty
 * @param lateIndexes likewise, over what it has. There is none of SAI among them if another one is
 *     there before: Cassandra 5.0.6 numbers rows in another way then, if something is deleted
 */
record Shape(
    List<Boolean> descending,
    int statics,
    int regulars,
    boolean isReadRepaired,
    List<String> indexes,
    List<String> lateIndexes) {
  private static final int MAX_CLUSTERINGS = 2;

  static Shape random(Random random) {
    int clusterings = random.nextInt(5) == 0 ? 0 : 1 + random.nextInt(MAX_CLUSTERINGS);
    List<Boolean> descending = new ArrayList<>();
    for (int i = 0; i < clusterings; i++) {
      descending.add(random.nextBoolean());
    }
    int statics = clusterings == 0 || random.nextInt(5) == 0 ? 0 : 1 + random.nextInt(2);
    int regulars = clusterings > 0 && random.nextInt(4) == 0 ? 0 : 1 + random.nextInt(2);
    Shape plain =
        new Shape(
            List.copyOf(descending), statics, regulars, random.nextBoolean(), List.of(), List.of());
    return random.nextInt(3) == 0 ? plain : plain.indexed(random);
  }

  private Shape indexed(Random random) {
    boolean isSaiLate = random.nextInt(4) == 0;
    List<String> early = new ArrayList<>();
    List<String> late = new ArrayList<>();
    for (String column : columns()) {
      switch (random.nextInt(4)) {
        case 0 ->
            (random.nextBoolean() ? early : late).add("CREATE INDEX ON $t (%s)".formatted(column));
        case 1, 2 -> {
          boolean isOne = isSaiLate && late.stream().noneMatch(one -> one.contains("sai"));
          if (!isSaiLate || isOne) {
            (isOne ? late : early).add("CREATE INDEX ON $t (%s) USING 'sai'".formatted(column));
          }
        }
        default -> {}
      }
    }
    return new Shape(
        descending, statics, regulars, isReadRepaired, List.copyOf(early), List.copyOf(late));
  }

  /** All but the partition key. */
  List<String> columns() {
    List<String> columns = new ArrayList<>(regularNames());
    columns.addAll(staticNames());
    columns.addAll(clusteringNames());
    return columns;
  }

  int clusterings() {
    return descending.size();
  }

  /** Such as {@code c0, c1}. */
  List<String> names(String letter, int count) {
    return IntStream.range(0, count).mapToObj(i -> letter + i).toList();
  }

  List<String> clusteringNames() {
    return names("c", clusterings());
  }

  List<String> staticNames() {
    return names("s", statics);
  }

  List<String> regularNames() {
    return names("v", regulars);
  }

  /** The statement that makes the table. */
  String creation(String table) {
    List<String> columns = new ArrayList<>(List.of("p int"));
    clusteringNames().forEach(name -> columns.add(name + " int"));
    staticNames().forEach(name -> columns.add(name + " int static"));
    regularNames().forEach(name -> columns.add(name + " int"));
    List<String> key = new ArrayList<>(List.of("p"));
    key.addAll(clusteringNames());
    String options = "read_repair = '%s'".formatted(isReadRepaired ? "BLOCKING" : "NONE");
    if (clusterings() > 0) {
      options += " AND CLUSTERING ORDER BY (%s)".formatted(order(false));
    }
    return "CREATE TABLE %s (%s, PRIMARY KEY (%s)) WITH %s"
        .formatted(table, String.join(", ", columns), String.join(", ", key), options);
  }

  /** What stands behind ORDER BY. */
  String order(boolean isReversed) {
    return IntStream.range(0, clusterings())
        .mapToObj(i -> "c" + i + (descending.get(i) != isReversed ? " DESC" : " ASC"))
        .collect(Collectors.joining(", "));
  }
}
