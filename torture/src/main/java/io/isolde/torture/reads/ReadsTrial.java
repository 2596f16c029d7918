// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture.reads;

import io.isolde.client.Isolde;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.cluster.ToolException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Tables of some seeds, all at the same time, since what they wait for is the same: replicas that
 * miss writes, and rows that expire.
 */
public final class ReadsTrial {
  private static final AtomicInteger trials = new AtomicInteger();
  private static final int EARLY_WRITES = 14;
  private static final int MISSED_WRITES = 7;
  private static final int REPLICAS_THAT_MISS = 2;
  private static final int LATE_WRITES = 12;

  /** Cassandra counts in whole seconds, and begins the second at any moment of it. */
  private static final long EXPIRED_AFTER_MILLIS = (ShapeWrites.TTL_SECONDS + 1) * 1000L;

  private final Ground ground;
  private final String name = "reads" + trials.incrementAndGet();
  private final List<TwinComparison> comparisons = new ArrayList<>();

  private ReadsTrial(Ground ground) {
    this.ground = ground;
  }

  /** Compares all that tables of these seeds answer with what plain tables do. */
  public static List<Verdict> run(Ground ground, long... seeds) {
    ReadsTrial trial = new ReadsTrial(ground);
    trial.begin(seeds);
    trial.fill();
    List<Verdict> verdicts =
        trial.comparisons.parallelStream().map(TwinComparison::judged).toList();
    trial.end();
    return verdicts;
  }

  private String keyspace(int replication) {
    return name + "_" + replication;
  }

  private void begin(long[] seeds) {
    List<String> replications = ground.replications();
    createKeyspace(name, ground.plainReplication());
    for (int i = 0; i < replications.size(); i++) {
      createKeyspace(keyspace(i), replications.get(i));
    }
    ground.awaitSchema();
    for (int i = 0; i < seeds.length; i++) {
      Random random = new Random(seeds[i]);
      String keyspace = keyspace(random.nextInt(replications.size()));
      Twins twins =
          new Twins(ground, Shape.random(random), random, keyspace + ".t" + i, name + ".t" + i);
      twins.create();
      comparisons.add(new TwinComparison(ground, seeds[i], random, twins));
    }
    ground.awaitSchema();
  }

  private void createKeyspace(String keyspace, String replication) {
    ground.execute("CREATE KEYSPACE %s WITH replication = %s".formatted(keyspace, replication));
  }

  private void fill() {
    each(comparison -> comparison.twins().writeEarly(comparison.some(EARLY_WRITES)));
    each(TwinComparison::shuffle);
    for (int time = 1; time <= REPLICAS_THAT_MISS; time++) {
      ground.missedByAReplica(
          time,
          () -> each(comparison -> comparison.twins().writeEarly(comparison.some(MISSED_WRITES))));
    }
    comparisons.forEach(comparison -> comparison.trying(() -> comparison.twins().enable()));
    ground.awaitSchema();
    each(comparison -> comparison.twins().write(comparison.twins().writes().expiring(LATE_WRITES)));
    long expiredAtMillis = nowMillis() + EXPIRED_AFTER_MILLIS;
    each(TwinComparison::shuffle);
    pause(expiredAtMillis - System.currentTimeMillis());
  }

  /**
   * What a transaction writes expires by the time of its snapshot. That is ahead of the clock for a
   * while after another member of the oracle has become the leader: a paused one may have led.
   */
  private long nowMillis() {
    try (Transaction now = Isolde.on(ground.session()).begin(TransactionOptions.reading())) {
      return Math.max(System.currentTimeMillis(), now.startTimestamp() / 1_000);
    }
  }

  private void each(Consumer<TwinComparison> what) {
    comparisons.parallelStream()
        .forEach(comparison -> comparison.trying(() -> what.accept(comparison)));
  }

  private void end() {
    for (int i = 0; i < ground.replications().size(); i++) {
      ground.execute("DROP KEYSPACE " + keyspace(i));
    }
    ground.execute("DROP KEYSPACE " + name);
  }

  private static void pause(long millis) {
    if (millis <= 0) {
      return;
    }
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ToolException("It was interrupted.", e);
    }
  }
}
