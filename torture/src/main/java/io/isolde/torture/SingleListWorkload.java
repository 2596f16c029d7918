// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import io.isolde.client.Isolde;
import io.isolde.client.TransactionOptions;
import io.isolde.history.Anomaly;
import io.isolde.history.HistoryChecker;
import io.isolde.history.ObservedTransaction.Outcome;
import io.isolde.history.Operation;
import java.util.List;
import java.util.Random;

/**
 * Single appends to lists, some of them with IF: the order of each list must be that in which they
 * were answered. Transactions of one operation that are strictly serializable are linearizable, so
 * the histories are checked as those of transactions are.
 */
final class SingleListWorkload implements CheckedWorkload {
  private final SingleLists lists;
  private final KeyRing keys;
  private boolean isReadToTheEnd;

  SingleListWorkload(SingleLists lists, int firstKey) {
    this.lists = lists;
    this.keys = new KeyRing(firstKey);
  }

  @Override
  public void step(Isolde isolde, TransactionOptions options, Random random, Recorder recorder) {
    int key = keys.draw(random);
    switch (random.nextInt(4)) {
      case 0 -> append(key, false, recorder);
      case 1 -> append(key, true, recorder);
      default -> {
        boolean unused = read(key, recorder);
      }
    }
  }

  private void append(int key, boolean isConditional, Recorder recorder) {
    int value = keys.valueFor(key);
    StatementAttempt<Boolean> attempt =
        StatementAttempt.of(
            () -> {
              if (isConditional) {
                return lists.appendIfThere(key, value);
              }
              lists.append(key, value);
              return true;
            },
            recorder);
    boolean isRefused = attempt.isAnswered() && !attempt.answer();
    recorder.operations(
        List.of(new Operation.Append(key, value)),
        isRefused ? Outcome.ABORTED : attempt.outcome(),
        attempt.beginNanos(),
        attempt.endNanos());
  }

  private boolean read(int key, Recorder recorder) {
    StatementAttempt<List<Integer>> attempt = StatementAttempt.of(() -> lists.read(key), recorder);
    if (attempt.isAnswered()) {
      recorder.operations(
          List.of(new Operation.ReadList(key, attempt.answer())),
          attempt.outcome(),
          attempt.beginNanos(),
          attempt.endNanos());
    }
    return attempt.isAnswered();
  }

  @Override
  public boolean readAll(Isolde isolde, TransactionOptions options, Recorder recorder) {
    isReadToTheEnd = keys.used().stream().allMatch(key -> read(key, recorder));
    return isReadToTheEnd;
  }

  @Override
  public List<String> violations(Recorder recorder) {
    return HistoryChecker.check(
            recorder.history(), HistoryChecker.Level.SERIALIZABLE, isReadToTheEnd)
        .stream()
        .map(Anomaly::toString)
        .toList();
  }

  @Override
  public String toString() {
    return "appends to lists in a strong keyspace";
  }
}
