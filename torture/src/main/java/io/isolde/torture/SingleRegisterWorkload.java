// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import com.datastax.oss.driver.api.core.DriverException;
import io.isolde.client.Isolde;
import io.isolde.client.TransactionOptions;
import io.isolde.history.Linearizability;
import io.isolde.history.ObservedTransaction.Outcome;
import io.isolde.history.RegisterOperation;
import io.isolde.history.RegisterOperation.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Single statements, some of them with IF: each key must be a linearizable register. TRUNCATE
 * writes nothing to all of them.
 */
final class SingleRegisterWorkload implements CheckedWorkload {
  private final RegisterStore registers;
  private final KeyRing keys;
  private final int stepsPerTruncation;
  private final Map<Integer, Queue<RegisterOperation>> history = new ConcurrentHashMap<>();
  private final Queue<RegisterOperation> truncations = new ConcurrentLinkedQueue<>();

  /**
   * A workload.
   *
   * @param stepsPerTruncation one in so many empties all registers; 0 for none
   */
  SingleRegisterWorkload(RegisterStore registers, int firstKey, int stepsPerTruncation) {
    this.registers = registers;
    this.keys = new KeyRing(firstKey);
    this.stepsPerTruncation = stepsPerTruncation;
  }

  @Override
  public void step(Isolde isolde, TransactionOptions options, Random random, Recorder recorder) {
    if (stepsPerTruncation > 0 && random.nextInt(stepsPerTruncation) == 0) {
      truncate(recorder);
      return;
    }
    int key = keys.draw(random);
    switch (random.nextInt(4)) {
      case 0 -> write(key, recorder);
      case 1 -> swap(key, recorder);
      default -> {
        boolean unused = read(key, recorder);
      }
    }
  }

  private void add(
      int key, StatementAttempt<?> attempt, Kind kind, Integer expected, Integer value) {
    if (attempt.outcome() != Outcome.ABORTED) {
      history
          .computeIfAbsent(key, unused -> new ConcurrentLinkedQueue<>())
          .add(operation(attempt, kind, expected, value));
    }
  }

  private static RegisterOperation operation(
      StatementAttempt<?> attempt, Kind kind, Integer expected, Integer value) {
    boolean isApplied = !(attempt.answer() instanceof Boolean said) || said;
    long returned = attempt.isAnswered() ? attempt.endNanos() : RegisterOperation.NEVER;
    return new RegisterOperation(kind, expected, value, isApplied, attempt.beginNanos(), returned);
  }

  private void truncate(Recorder recorder) {
    StatementAttempt<Boolean> attempt =
        StatementAttempt.of(
            () -> {
              registers.empty();
              return true;
            },
            recorder);
    if (attempt.outcome() != Outcome.ABORTED) {
      truncations.add(operation(attempt, Kind.WRITE, null, null));
    }
  }

  private void write(int key, Recorder recorder) {
    int value = keys.valueFor(key);
    StatementAttempt<Boolean> attempt =
        StatementAttempt.of(
            () -> {
              registers.write(key, value);
              return true;
            },
            recorder);
    add(key, attempt, Kind.WRITE, null, value);
  }

  /** Expects what was there a moment ago. */
  private void swap(int key, Recorder recorder) {
    Integer expected;
    try {
      expected = registers.read(key);
    } catch (DriverException e) {
      return; // As if it had never been tried.
    }
    int value = keys.valueFor(key);
    add(
        key,
        StatementAttempt.of(() -> registers.swap(key, expected, value), recorder),
        Kind.SWAP,
        expected,
        value);
  }

  private boolean read(int key, Recorder recorder) {
    StatementAttempt<Integer> attempt = StatementAttempt.of(() -> registers.read(key), recorder);
    if (attempt.isAnswered()) {
      add(key, attempt, Kind.READ, null, attempt.answer());
    }
    return attempt.isAnswered();
  }

  @Override
  public boolean readAll(Isolde isolde, TransactionOptions options, Recorder recorder) {
    return keys.used().stream().allMatch(key -> read(key, recorder));
  }

  @Override
  public List<String> violations(Recorder recorder) {
    List<String> violations = new ArrayList<>();
    history.forEach(
        (key, operations) -> {
          List<RegisterOperation> all = withTruncations(operations);
          if (!Linearizability.check(all)) {
            violations.add("Key " + key + " is not linearizable: " + all);
          }
        });
    return violations;
  }

  /** Without those that say nothing of the key: before its first operation, or after its last. */
  private List<RegisterOperation> withTruncations(Queue<RegisterOperation> operations) {
    long first =
        operations.stream().mapToLong(RegisterOperation::invokedNanos).min().orElse(Long.MAX_VALUE);
    long last =
        operations.stream()
            .mapToLong(RegisterOperation::returnedNanos)
            .filter(nanos -> nanos != RegisterOperation.NEVER)
            .max()
            .orElse(0);
    List<RegisterOperation> all = new ArrayList<>(operations);
    truncations.stream()
        .filter(each -> each.returnedNanos() >= first && each.invokedNanos() <= last)
        .forEach(all::add);
    all.sort(Comparator.comparingLong(RegisterOperation::invokedNanos));
    return all;
  }

  @Override
  public String toString() {
    return registers.toString();
  }
}
