// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.client.ErrorCode;
import io.isolde.client.IsolationLevel;
import io.isolde.client.Isolde;
import io.isolde.client.IsoldeException;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * History 2 of "A Critique of Snapshot Isolation" (Yabandeh and Gómez Ferro, EuroSys 2012): two
 * transactions each keep a rule, and together break it.
 */
final class DemoWriteSkew {
  private final CqlSession session;
  private final DemoScript script;
  private final Isolde isolde;

  DemoWriteSkew(CqlSession session, DemoScript script) {
    this.session = session;
    this.script = script;
    this.isolde = Isolde.on(session);
  }

  void show() {
    script.scene("Write skew, and the level that prevents it");
    script.say("The rule: x + y > 0. Both are 1. Two clients each want to take 1 away, A from x");
    script.say("and B from y, and each looks first whether the rule will still hold.");
    session.execute("CREATE TABLE demo.numbers (name text PRIMARY KEY, value int)");
    session.execute("ENABLE TRANSACTIONS ON demo.numbers");
    showSnapshot();
    showSerializable();
  }

  private void showSnapshot() {
    reset();
    Optional<IsoldeException> error = race(IsolationLevel.SNAPSHOT);
    int sum = sum();
    script.say("");
    script.check(
        error.isEmpty() && sum == 0,
        "Both commit: they wrote different rows. x + y = 0, as SNAPSHOT allows.",
        "SNAPSHOT lets both commit, but the sum is %d.".formatted(sum));
  }

  private void showSerializable() {
    reset();
    Optional<IsoldeException> error = race(IsolationLevel.SERIALIZABLE);
    script.say("");
    script.say("  This is what B gets, as an InvalidQuery error of any driver:");
    script.say("");
    error.ifPresent(found -> script.quote(found.getMessage()));
    script.say("");
    script.check(
        error.isPresent() && error.get().code() == ErrorCode.CONFLICT && sum() == 1,
        "One commits, the other is told to run again: x + y = 1.",
        "SERIALIZABLE did not stop the second: x + y = %d.".formatted(sum()));
    boolean taken = isolde.run(tx -> takeIfAllowed(tx, "y"));
    script.check(
        !taken && sum() == 1,
        "Run again, B reads x = 0 and y = 1, and leaves y alone.",
        "Run again, B took 1 from y.");
  }

  private void reset() {
    isolde.runVoid(
        tx -> {
          tx.execute("INSERT INTO demo.numbers (name, value) VALUES ('x', 1)");
          tx.execute("INSERT INTO demo.numbers (name, value) VALUES ('y', 1)");
        });
  }

  /** Returns the error of the second commit. */
  private Optional<IsoldeException> race(IsolationLevel level) {
    script.say("");
    TransactionOptions options = TransactionOptions.builder().isolationLevel(level).build();
    try (Transaction a = isolde.begin(options);
        Transaction b = isolde.begin(options)) {
      String start = "START TRANSACTION ISOLATION LEVEL " + level;
      script.step("A, B", start + ";", "");
      take("A", a, "x");
      take("B", b, "y");
      a.commit();
      script.step("A", "COMMIT;", "committed");
      try {
        b.commit();
        script.step("B", "COMMIT;", "committed");
        return Optional.empty();
      } catch (IsoldeException e) {
        script.step("B", "COMMIT;", e.code().name());
        return Optional.of(e);
      }
    }
  }

  private void take(String who, Transaction tx, String name) {
    Map<String, Integer> seen = values(tx);
    script.step(
        who,
        "SELECT name, value ...;",
        "x = %d, y = %d: 1 may be taken".formatted(seen.get("x"), seen.get("y")));
    boolean taken = takeIfAllowed(tx, name);
    script.step(
        who, "UPDATE ... value = 0 WHERE name='%s';".formatted(name), taken ? "" : "not done");
  }

  private static boolean takeIfAllowed(Transaction tx, String name) {
    Map<String, Integer> seen = values(tx);
    if (seen.get("x") + seen.get("y") <= 1) {
      return false;
    }
    tx.execute("UPDATE demo.numbers SET value = ? WHERE name = ?", seen.get(name) - 1, name);
    return true;
  }

  private static Map<String, Integer> values(Transaction tx) {
    Map<String, Integer> values = new HashMap<>();
    for (Row row : tx.execute("SELECT name, value FROM demo.numbers WHERE name IN ('x', 'y')")) {
      values.put(row.getString(0), row.getInt(1));
    }
    return values;
  }

  private int sum() {
    return isolde.run(
        TransactionOptions.reading(),
        tx -> values(tx).values().stream().mapToInt(Integer::intValue).sum());
  }
}
