// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.reads;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** One SELECT of every shape, with random values. */
final class RandomReads {

  /**
   * A SELECT and how much of it is asked for at a time.
   *
   * @param pageSize zero for all at once
   */
  record Read(Cql cql, int pageSize) {
    @Override
    public String toString() {
      return cql + " -- page size " + pageSize;
    }
  }

  private static final int[] PAGE_SIZES = {1, 2, 3, 5000};

  private final Random random;
  private final RandomWrites keys;
  private final List<Read> reads = new ArrayList<>();

  private RandomReads(Random random) {
    this.random = random;
    this.keys = new RandomWrites(random);
  }

  static List<Read> all(Random random) {
    RandomReads all = new RandomReads(random);
    all.rows();
    all.slices();
    all.ranges();
    all.limits();
    all.aggregates();
    all.filters();
    all.functions();
    return all.reads;
  }

  private void add(String text, Object... values) {
    int pageSize = PAGE_SIZES[random.nextInt(PAGE_SIZES.length)];
    reads.add(new Read(Cql.of("SELECT " + text, values), pageSize));
  }

  /** Cassandra sorts several partitions only when it has them whole. */
  private void addUnpaged(String text, Object... values) {
    reads.add(new Read(Cql.of("SELECT " + text, values), 0));
  }

  private int p() {
    return keys.partition();
  }

  private int c() {
    return keys.clustering();
  }

  private String d() {
    return keys.letter();
  }

  private void rows() {
    add("* FROM $t WHERE p = ? AND c = ? AND d = ?", p(), c(), d());
    add("v FROM $t WHERE p = ? AND c = ? AND d = ?", p(), c(), d());
    add("m, st, l, u FROM $t WHERE p = ? AND c = ? AND d = ?", p(), c(), d());
    add("* FROM $t WHERE p = ? AND c IN (?, ?) AND d IN ('a', 'c')", p(), c(), c());
    add("* FROM $t WHERE p = ? AND (c, d) IN ((?, ?), (?, ?))", p(), c(), d(), c(), d());
    add("* FROM $t WHERE p IN (?, ?, ?) AND c = ? AND d = ?", p(), p(), p(), c(), d());
    add("s, v FROM $t WHERE p = ? AND c = ? AND d = ?", p(), c(), d());
  }

  private void slices() {
    add("* FROM $t WHERE p = ?", p());
    add("* FROM $t WHERE p = ?", p());
    add("c, d, v FROM $t WHERE p = ? AND c >= ?", p(), c());
    add("c, d, v FROM $t WHERE p = ? AND c > ? AND c <= ?", p(), c() - 1, c());
    add("c, d, w FROM $t WHERE p = ? AND (c, d) > (?, ?)", p(), c(), d());
    add("* FROM $t WHERE p = ? AND c = ? AND d < ?", p(), c(), d());
    add("* FROM $t WHERE p = ? ORDER BY $reversed", p());
    add("* FROM $t WHERE p = ? AND c < ? ORDER BY $reversed", p(), c());
    add("* FROM $t WHERE p IN (?, ?, ?)", p(), p(), p());
    add("* FROM $t WHERE p IN (?, ?) AND c > ?", p(), p(), c() - 1);
    addUnpaged("* FROM $t WHERE p IN (?, ?, ?) ORDER BY $reversed", p(), p(), p());
    addUnpaged("* FROM $t WHERE p IN (?, ?) ORDER BY $ordered LIMIT 3", p(), p());
    add("DISTINCT p, s FROM $t WHERE p = ?", p());
    add("s, ss FROM $t WHERE p = ?", p());
  }

  private void ranges() {
    add("* FROM $t");
    add("p, c, d, v FROM $t");
    add("* FROM $t WHERE token(p) > token(?)", p());
    add("* FROM $t WHERE token(p) >= token(?) AND token(p) < 4611686018427387904", p());
    add("* FROM $t WHERE token(p) = token(?)", p());
    add("DISTINCT p FROM $t");
    add("DISTINCT p, s, ss FROM $t");
    add("DISTINCT p, s FROM $t WHERE token(p) > token(?)", p());
    add("s FROM $t");
    add("p, s FROM $t");
  }

  private void limits() {
    add("* FROM $t LIMIT ?", 1 + random.nextInt(12));
    add("* FROM $t PER PARTITION LIMIT 2");
    add("* FROM $t PER PARTITION LIMIT 2 LIMIT 5");
    add("* FROM $t WHERE p = ? LIMIT ?", p(), 1 + random.nextInt(4));
    add("* FROM $t WHERE p = ? ORDER BY $reversed LIMIT 3", p());
    add("* FROM $t WHERE p IN (?, ?, ?) PER PARTITION LIMIT 1", p(), p(), p());
    add("* FROM $t WHERE p IN (?, ?, ?) LIMIT 4", p(), p(), p());
    add("* FROM $t WHERE p = ? AND c >= ? LIMIT 2", p(), c());
    add("DISTINCT p FROM $t LIMIT 2");
  }

  private void aggregates() {
    add("count(*) FROM $t");
    add("count(v), sum(v), min(v), max(v), avg(v) FROM $t");
    add("count(*), min(c), max(d) FROM $t WHERE p = ?", p());
    add("count(*) FROM $t WHERE p IN (?, ?)", p(), p());
    add("p, count(*), sum(v) FROM $t GROUP BY p");
    add("p, c, count(*), max(v) FROM $t GROUP BY p, c");
    add("p, c, d, v FROM $t GROUP BY p, c");
    add("p, c, count(v) FROM $t WHERE p = ? GROUP BY p, c", p());
    add("c, min(v) FROM $t WHERE p = ? GROUP BY c ORDER BY $reversed", p());
    add("p, count(*) FROM $t GROUP BY p LIMIT 3");
    add("p, c, count(*) FROM $t GROUP BY p, c PER PARTITION LIMIT 2");
    add("p, c, count(*) FROM $t WHERE p IN (?, ?) GROUP BY p, c LIMIT 3", p(), p());
  }

  private void filters() {
    add("* FROM $t WHERE v = ? ALLOW FILTERING", random.nextInt(5));
    add("p, c, w FROM $t WHERE v > ? LIMIT 3 ALLOW FILTERING", random.nextInt(5) - 1);
    add("* FROM $t WHERE c = ? ALLOW FILTERING", c());
    add("* FROM $t WHERE d >= ? ALLOW FILTERING", d());
    add("* FROM $t WHERE s = ? ALLOW FILTERING", random.nextInt(5));
    add("DISTINCT p, s FROM $t WHERE s > 1 ALLOW FILTERING");
    add("* FROM $t WHERE p = ? AND v < ? ALLOW FILTERING", p(), random.nextInt(5));
    add("* FROM $t WHERE p = ? AND d = ? ALLOW FILTERING", p(), d());
    add("p, c FROM $t WHERE st CONTAINS 8 ALLOW FILTERING");
    add("p, c FROM $t WHERE m CONTAINS KEY 'a' ALLOW FILTERING");
    add("p, c FROM $t WHERE m['a'] = 7 ALLOW FILTERING");
    add("p, c FROM $t WHERE l CONTAINS 5 ALLOW FILTERING");
    add("p, c FROM $t WHERE fl = [3] ALLOW FILTERING");
    add("count(*) FROM $t WHERE v >= 2 ALLOW FILTERING");
    add("* FROM $t WHERE v >= 1 PER PARTITION LIMIT 1 ALLOW FILTERING");
    add("p, count(*) FROM $t WHERE v >= 1 GROUP BY p ALLOW FILTERING");
    add("* FROM $t WHERE token(p) > token(?) AND v = 2 ALLOW FILTERING", p());
    add("* FROM $t WHERE p IN (?, ?) AND v = 1 ALLOW FILTERING", p(), p());
    add("* FROM $t WHERE p > ? ALLOW FILTERING", p());
  }

  private void functions() {
    add("JSON * FROM $t");
    add("JSON p, v, u FROM $t WHERE p = ?", p());
    add("token(p), cast(v AS text), intAsBlob(c) FROM $t WHERE p = ?", p());
    add("p, u.street, f.number FROM $t");
    add("p, m['a'], st[8] FROM $t WHERE p = ?", p());
    add("toJson(m), v AS renamed FROM $t WHERE p = ?", p());
    add("map_keys(m), collection_count(st) FROM $t WHERE p = ?", p());
  }
}
