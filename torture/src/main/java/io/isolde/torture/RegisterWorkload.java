// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
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
import java.util.Set;
import java.util.TreeSet;

/**
 * Reads some registers and replaces the values of some of those, now and then under a condition. At
 * SERIALIZABLE, some transactions are blocks.
 */
final class RegisterWorkload implements CheckedWorkload {
  private static final int MAX_KEYS = 4;
  private static final int MAX_GUESS = 1_000;

  private final RegisterPlace place;
  private final CqlSession session;
  private final HistoryChecker.Level level;
  private final KeyRing keys;
  private boolean isReadToTheEnd;

  /**
   * A workload.
   *
   * @param session for blocks
   */
  RegisterWorkload(RegisterPlace place, IsolationLevel level, int firstKey, CqlSession session) {
    this.place = place;
    this.session = session;
    this.level = HistoryChecker.Level.valueOf(level.name());
    this.keys = new KeyRing(firstKey);
  }

  @Override
  public List<String> tables() {
    return place.schema();
  }

  @Override
  public void prepare(Isolde isolde) {}

  @Override
  public void step(Isolde isolde, TransactionOptions options, Random random, Recorder recorder) {
    boolean isReading = random.nextInt(4) == 0;
    Set<Integer> chosen = new TreeSet<>();
    for (int i = 1 + random.nextInt(MAX_KEYS); i > 0; i--) {
      chosen.add(keys.draw(random));
    }
    boolean mayBeBlock = level == HistoryChecker.Level.SERIALIZABLE && place == RegisterPlace.ROW;
    if (mayBeBlock && random.nextInt(3) == 0) {
      RegisterBlock.of(chosen, isReading, keys, random).run(session, recorder);
      return;
    }
    var unused =
        recorder.run(
            isolde,
            options.toBuilder().readOnly(isReading).build(),
            (tx, done) -> {
              String how = !isReading && random.nextBoolean() ? " FOR UPDATE" : "";
              for (int key : chosen) {
                if (!isReading && random.nextInt(4) == 0) {
                  swap(tx, key, random, done);
                } else {
                  done.add(new Operation.Read(key, read(tx, key, how)));
                }
              }
              for (int key : chosen) {
                if (!isReading && random.nextBoolean()) {
                  done.add(write(tx, key));
                }
              }
            });
  }

  private Integer read(Transaction tx, int key) {
    return read(tx, key, "");
  }

  private Integer read(Transaction tx, int key, String how) {
    Row row = tx.execute(place.select(key) + how, place.row(key)).one();
    return row == null ? null : row.get(0, Integer.class);
  }

  /** Its answer says what the condition has read. */
  private void swap(Transaction tx, int key, Random random, List<Operation> done) {
    Integer expected =
        random.nextBoolean() ? read(tx, key) : Integer.valueOf(1 + random.nextInt(MAX_GUESS));
    int value = keys.valueFor(key);
    String column = place.column(key);
    ResultSet answer =
        expected == null
            ? tx.execute(place.updateIfAbsent(key), value, place.row(key))
            : tx.execute(
                place.update(key) + " IF " + column + " = ?", value, place.row(key), expected);
    if (answer.wasApplied()) {
      done.add(new Operation.Read(key, expected));
      done.add(new Operation.Write(key, value));
    } else {
      Row found = answer.one();
      boolean isThere = found.getColumnDefinitions().contains(column);
      done.add(new Operation.Read(key, isThere ? found.get(column, Integer.class) : null));
    }
  }

  private Operation write(Transaction tx, int key) {
    int value = keys.valueFor(key);
    tx.execute(place.update(key), value, place.row(key));
    return new Operation.Write(key, value);
  }

  @Override
  public boolean readAll(Isolde isolde, TransactionOptions options, Recorder recorder) {
    isReadToTheEnd =
        recorder.run(
            isolde,
            options.toBuilder().readOnly(true).build(),
            (tx, done) -> {
              for (int key : keys.used()) {
                done.add(new Operation.Read(key, read(tx, key)));
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
    return "registers that are read and replaced, by " + place.name().toLowerCase(Locale.ROOT);
  }
}
