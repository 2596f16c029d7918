// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static io.isolde.oracle.OracleFixture.begin;
import static io.isolde.oracle.OracleFixture.decide;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs a history in the notation of section 3, as {@code r1[x] w1[y] c1}; {@code i1[x]} reads for a
 * condition (IF). A transaction begins with its first operation; a commit is applied at once.
 */
final class History {
  private static final Pattern OPERATION = Pattern.compile("([riwca])(\\d+)(?:\\[(\\w+)])?");

  private static final class Transaction {
    final long start;
    final List<String> reads = new ArrayList<>();
    final List<String> conditions = new ArrayList<>();
    final List<String> writes = new ArrayList<>();

    Transaction(long start) {
      this.start = start;
    }
  }

  private final OracleFixture fixture = new OracleFixture();
  private final Names names = new Names();
  private final IsolationLevel level;
  private final Map<String, Transaction> transactions = new LinkedHashMap<>();
  private final StringBuilder outcome = new StringBuilder();
  private long now = 1000;

  private History(IsolationLevel level) {
    this.level = level;
  }

  /** The commits and aborts as they came to pass, as {@code c1 a2}. */
  static String run(IsolationLevel level, String operations) {
    History history = new History(level);
    for (String operation : operations.split(" ", -1)) {
      history.step(operation);
    }
    return history.outcome.toString().trim();
  }

  private void step(String operation) {
    Matcher matcher = OPERATION.matcher(operation);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("Not an operation: " + operation);
    }
    now += 10;
    String number = matcher.group(2);
    Transaction transaction =
        transactions.computeIfAbsent(number, unseen -> new Transaction(begin(fixture.oracle, now)));
    switch (matcher.group(1)) {
      case "r" -> transaction.reads.add(matcher.group(3));
      case "i" -> transaction.conditions.add(matcher.group(3));
      case "w" -> transaction.writes.add(matcher.group(3));
      case "c" -> outcome.append(commit(number, transaction)).append(number).append(' ');
      default -> {} // Nobody has to hear of a rollback.
    }
  }

  private char commit(String number, Transaction transaction) {
    if (transaction.writes.isEmpty()) {
      return 'c';
    }
    List<String> checked = new ArrayList<>(transaction.conditions);
    if (level == IsolationLevel.SERIALIZABLE) {
      checked.addAll(transaction.reads);
    }
    long[] writes = names.ids(transaction.writes.toArray(String[]::new));
    Decision decision =
        decide(
            fixture.oracle,
            new CommitRequest(
                names.transaction("t" + number),
                level,
                transaction.start,
                names.ids(checked.toArray(String[]::new)),
                writes,
                writes),
            now);
    if (decision instanceof Decision.Committed committed) {
      fixture.oracle.applied(committed.commitTimestamp());
      return 'c';
    }
    return 'a';
  }
}
