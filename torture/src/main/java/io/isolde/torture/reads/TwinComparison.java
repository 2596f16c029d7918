// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture.reads;

import io.isolde.client.IsolationLevel;
import io.isolde.client.Isolde;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.torture.reads.ShapeReads.Read;
import io.isolde.torture.reads.Twins.Right;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.regex.Pattern;

/** The tables of one seed, and what is found out about them. */
final class TwinComparison {
  private static final int OWN_WRITES = 8;

  /** Their rows are not those of the table. */
  private static final Pattern UNLOCKABLE = Pattern.compile("DISTINCT|GROUP BY|count\\(|max\\(");

  private final Ground ground;
  private final Isolde isolde;
  private final long seed;
  private final Random random;
  private final Twins twins;
  private int compared;
  private Optional<String> trouble = Optional.empty();

  TwinComparison(Ground ground, long seed, Random random, Twins twins) {
    this.ground = ground;
    this.isolde = Isolde.on(ground.session());
    this.seed = seed;
    this.random = random;
    this.twins = twins;
  }

  Twins twins() {
    return twins;
  }

  List<String> some(int writes) {
    return twins.writes().some(writes);
  }

  void shuffle() {
    int dot = twins.transactional().indexOf('.');
    ground.shuffle(
        twins.transactional().substring(0, dot), twins.transactional().substring(dot + 1), random);
  }

  /** Does something unless it is too late, and remembers what prevents the rest. */
  void trying(Runnable step) {
    if (trouble.isPresent()) {
      return;
    }
    try {
      step.run();
    } catch (Difference e) {
      throw e;
    } catch (RuntimeException e) {
      if (!Trouble.isPassing(e)) {
        throw new IllegalStateException(described("it failed"), e);
      }
      trouble = Optional.of(e.toString());
    }
  }

  /** A wrong answer. */
  private static final class Difference extends RuntimeException {
    private static final long serialVersionUID = 1;

    Difference(String message) {
      super(message);
    }
  }

  Verdict judged() {
    try {
      trying(this::compareAll);
      return new Verdict(seed, compared, trouble, Optional.empty());
    } catch (Difference e) {
      return new Verdict(seed, compared, trouble, Optional.of(described(e.getMessage())));
    }
  }

  private String described(String what) {
    return "seed %d, %s, table %s: %s%n%s%nindexes %s, later %s%n%s"
        .formatted(
            seed,
            ground,
            twins.transactional(),
            what,
            twins.shape().creation("$t"),
            twins.shape().indexes(),
            twins.shape().lateIndexes(),
            String.join("\n", twins.history()));
  }

  private void compareAll() {
    Map<Read, Right> before = right();
    compare(before, null, "committed");
    try (Transaction older = isolde.begin(TransactionOptions.reading())) {
      long timestamp = older.startTimestamp();
      compare(before, older, "in a transaction");
      writeAndCommit();
      try (Transaction past = isolde.begin(TransactionOptions.asOf(timestamp))) {
        compare(before, past, "as of before");
      }
      shuffle();
      compare(before, older, "in an older transaction");
    }
    compare(right(), null, "committed by a transaction");
    try (Transaction locking = isolde.begin(anyLevel())) {
      compare(lockable(), locking, "locking rows");
      twins.write(locking, some(OWN_WRITES / 2));
      compare(lockable(), locking, "locking rows, with own writes");
    }
  }

  /** Reads FOR UPDATE, and what they return without. */
  private Map<Read, Right> lockable() {
    Map<Read, Right> lockable = new LinkedHashMap<>();
    right()
        .forEach(
            (read, right) -> {
              if (!UNLOCKABLE.matcher(read.cql()).find()) {
                lockable.put(new Read(read.cql() + " FOR UPDATE", read.pageSize()), right);
              }
            });
    return lockable;
  }

  private void writeAndCommit() {
    try (Transaction transaction = isolde.begin(anyLevel())) {
      for (int i = 0; i < 2; i++) {
        twins.write(transaction, some(OWN_WRITES / 2));
        compare(right(), transaction, "own writes");
      }
      transaction.commit();
    }
  }

  private TransactionOptions anyLevel() {
    IsolationLevel[] levels = IsolationLevel.values();
    return TransactionOptions.builder()
        .isolationLevel(levels[random.nextInt(levels.length)])
        .build();
  }

  /** Of half of the reads, other ones each time. */
  private Map<Read, Right> right() {
    List<Read> reads = ShapeReads.all(twins.shape(), random);
    Collections.shuffle(reads, random);
    Map<Read, Right> right = new LinkedHashMap<>();
    for (Read read : reads.subList(0, reads.size() / 2)) {
      right.put(read, twins.right(read));
    }
    return right;
  }

  private void compare(Map<Read, Right> right, Transaction transaction, String where) {
    right.forEach(
        (read, rows) -> {
          List<String> found = twins.read(read, transaction);
          compared++;
          if (!rows.admits(found)) {
            throw new Difference(
                "%s: %s%n found %s%n instead of %s".formatted(where, read, found, rows.whole()));
          }
        });
  }
}
