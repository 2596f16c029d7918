// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import io.isolde.client.Isolde;
import io.isolde.client.TransactionOptions;
import io.isolde.history.CounterHistory;
import io.isolde.history.CounterHistory.Addition;
import io.isolde.history.CounterHistory.Reading;
import io.isolde.history.ObservedTransaction.Outcome;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** Counters of a strong keyspace: each must be one counter for all, which counts nothing twice. */
final class CounterWorkload implements CheckedWorkload {
  private final StatementTables.Counters counters;
  private final KeyRing keys;
  private final Map<Integer, OfKey> history = new ConcurrentHashMap<>();

  private static final class OfKey {
    final AtomicInteger bits = new AtomicInteger();
    final Queue<Addition> additions = new ConcurrentLinkedQueue<>();
    final Queue<Reading> readings = new ConcurrentLinkedQueue<>();
  }

  CounterWorkload(StatementTables.Counters counters, int firstKey) {
    this.counters = counters;
    this.keys = new KeyRing(firstKey);
  }

  private OfKey of(int key) {
    return history.computeIfAbsent(key, unused -> new OfKey());
  }

  @Override
  public void step(Isolde isolde, TransactionOptions options, Random random, Recorder recorder) {
    int key = keys.draw(random);
    if (random.nextBoolean()) {
      boolean unused = read(key, recorder);
    } else {
      add(key, random.nextInt(4) == 0, recorder);
    }
  }

  private void add(int key, boolean isInParts, Recorder recorder) {
    var unusedValue = keys.valueFor(key);
    OfKey own = of(key);
    int bit = own.bits.getAndIncrement();
    if (bit >= CounterHistory.MAX_ADDITIONS) {
      return; // Clients draw a key for a moment after it has had enough.
    }
    long added = 1L << bit;
    StatementAttempt<Boolean> attempt =
        StatementAttempt.of(
            () -> {
              if (isInParts) {
                counters.addInParts(key, -added, 2 * added);
              } else {
                counters.add(key, added);
              }
              return true;
            },
            recorder);
    if (attempt.outcome() != Outcome.ABORTED) {
      own.additions.add(
          new Addition(
              bit,
              attempt.beginNanos(),
              attempt.isAnswered() ? attempt.endNanos() : CounterHistory.NEVER));
    }
  }

  private boolean read(int key, Recorder recorder) {
    StatementAttempt<Long> attempt = StatementAttempt.of(() -> counters.read(key), recorder);
    if (attempt.isAnswered()) {
      of(key).readings.add(new Reading(attempt.answer(), attempt.beginNanos(), attempt.endNanos()));
    }
    return attempt.isAnswered();
  }

  @Override
  public boolean readAll(Isolde isolde, TransactionOptions options, Recorder recorder) {
    return keys.used().stream().allMatch(key -> read(key, recorder));
  }

  @Override
  public List<String> violations(Recorder recorder) {
    return history.entrySet().stream()
        .flatMap(
            of ->
                CounterHistory.violations(of.getValue().additions, of.getValue().readings).stream()
                    .map(violation -> "counter %d: %s".formatted(of.getKey(), violation)))
        .toList();
  }

  @Override
  public String toString() {
    return "counters in a strong keyspace";
  }
}
