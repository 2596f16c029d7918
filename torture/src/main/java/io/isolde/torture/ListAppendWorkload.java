// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import io.isolde.client.IsolationLevel;
import io.isolde.client.Isolde;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.history.Anomaly;
import io.isolde.history.HistoryChecker;
import io.isolde.history.Operation;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/** Appends to lists and reads them, several in a transaction. */
final class ListAppendWorkload implements CheckedWorkload {
  private static final int MAX_OPERATIONS = 4;

  private final ListStore store;
  private final HistoryChecker.Level level;
  private final KeyRing keys;
  private boolean isReadToTheEnd;

  ListAppendWorkload(ListStore store, IsolationLevel level, int firstKey) {
    this.store = store;
    this.level = HistoryChecker.Level.valueOf(level.name());
    this.keys = new KeyRing(firstKey);
  }

  @Override
  public List<String> tables() {
    return store.schema();
  }

  @Override
  public void prepare(Isolde isolde) {}

  @Override
  public void step(Isolde isolde, TransactionOptions options, Random random, Recorder recorder) {
    boolean isReading = random.nextInt(4) == 0;
    TransactionOptions chosen = options.toBuilder().readOnly(isReading).build();
    int operations = 1 + random.nextInt(MAX_OPERATIONS);
    var unused =
        recorder.run(
            isolde,
            chosen,
            (tx, done) -> {
              for (int i = 0; i < operations; i++) {
                int key = keys.draw(random);
                done.add(
                    isReading || random.nextBoolean()
                        ? new Operation.ReadList(key, store.read(tx, key))
                        : append(tx, key));
              }
            });
  }

  private Operation append(Transaction tx, int key) {
    int value = keys.valueFor(key);
    store.append(tx, key, value);
    return new Operation.Append(key, value);
  }

  @Override
  public boolean readAll(Isolde isolde, TransactionOptions options, Recorder recorder) {
    TransactionOptions reading = options.toBuilder().readOnly(true).build();
    isReadToTheEnd =
        recorder.run(
            isolde,
            reading,
            (tx, done) -> {
              for (int key : keys.used()) {
                done.add(new Operation.ReadList(key, store.read(tx, key)));
              }
            });
    return isReadToTheEnd;
  }

  @Override
  public List<String> violations(Recorder recorder) {
    return HistoryChecker.check(recorder.history(), level, isReadToTheEnd).stream()
        .map(Anomaly::toString)
        .toList();
  }

  @Override
  public String toString() {
    return "appends to lists, as " + store.name().toLowerCase(Locale.ROOT);
  }
}
