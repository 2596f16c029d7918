// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.util.Random;

/** Makes statements of every kind that changes rows, for tables with {@link #COLUMNS}. */
final class RandomWrites {
  static final String COLUMNS =
      "(p int, c int, s text static, sm map<int, text> static, v text, w int, m map<int, text>,"
          + " e set<int>, l list<int>, f frozen<list<int>>, u test.point, PRIMARY KEY (p, c))";

  static final int PARTITIONS = 4;
  static final int ROWS = 6;

  private final Random random;
  private final int texts;

  /**
   * Statements as the random numbers have it.
   *
   * @param texts how many different ones there are
   */
  RandomWrites(Random random, int texts) {
    this.random = random;
    this.texts = texts;
  }

  /** A statement with %s for the table, and USING %s for its options. */
  String next() {
    String key = "p = " + p() + " AND c = " + c();
    return switch (random.nextInt(24)) {
      case 0, 1, 2, 3 ->
          "INSERT INTO %s (p, c, v, w) VALUES ("
              + p()
              + ", "
              + c()
              + ", "
              + text()
              + ", "
              + n()
              + ") USING %s";
      case 4, 5, 6 -> "UPDATE %s USING %s SET v = " + text() + " WHERE " + key;
      case 7 -> "UPDATE %s USING %s SET w = " + n() + ", f = [" + n() + "] WHERE " + key;
      case 8 -> "UPDATE %s USING %s SET m[" + n() + "] = " + text() + " WHERE " + key;
      case 9 -> "UPDATE %s USING %s SET m = {" + n() + ": " + text() + "} WHERE " + key;
      case 10 -> "UPDATE %s USING %s SET e = e + {" + n() + "} WHERE " + key;
      case 11 -> "UPDATE %s USING %s SET e = {" + n() + ", " + n() + "} WHERE " + key;
      case 12 -> "UPDATE %s USING %s SET l = [" + n() + ", " + n() + "] WHERE " + key;
      case 13 -> "UPDATE %s USING %s SET u = {x: " + n() + ", y: " + n() + "} WHERE " + key;
      case 14 -> "UPDATE %s USING %s SET u.x = " + n() + " WHERE " + key;
      case 15 -> "UPDATE %s USING %s SET s = " + text() + " WHERE p = " + p();
      case 16 -> "UPDATE %s USING %s SET sm[" + n() + "] = " + text() + " WHERE p = " + p();
      case 17 -> "DELETE v, m FROM %s USING %s WHERE " + key;
      case 18 -> "DELETE m[" + n() + "], e FROM %s USING %s WHERE " + key;
      case 19 -> "DELETE s, sm FROM %s USING %s WHERE p = " + p();
      case 20, 21 -> "DELETE FROM %s USING %s WHERE " + key;
      case 22 -> rangeDelete();
      default ->
          random.nextInt(3) == 0 ? "DELETE FROM %s USING %s WHERE p = " + p() : rangeDelete();
    };
  }

  private String rangeDelete() {
    int from = c();
    return switch (random.nextInt(3)) {
      case 0 -> "DELETE FROM %s USING %s WHERE p = " + p() + " AND c > " + from;
      case 1 -> "DELETE FROM %s USING %s WHERE p = " + p() + " AND c <= " + from;
      default ->
          "DELETE FROM %s USING %s WHERE p = "
              + p()
              + " AND c >= "
              + from
              + " AND c < "
              + (from + 3);
    };
  }

  private int p() {
    return random.nextInt(PARTITIONS);
  }

  private int c() {
    return random.nextInt(ROWS);
  }

  private int n() {
    return random.nextInt(5);
  }

  private String text() {
    return "'t" + random.nextInt(texts) + "'";
  }
}
