// SPDX-License-Identifier: Apache-2.0
package io.isolde.history;

import io.isolde.history.ObservedTransaction.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/** A database of lists that keeps one level of isolation, with transactions that overlap. */
final class SimulatedDatabase {
  private static final int KEYS = 4;
  private static final int OPEN = 5;

  /** How it isolates. */
  enum Isolation {
    /** Reads the newest committed state each time, and checks nothing. */
    READ_COMMITTED,
    /** First committer wins. */
    SNAPSHOT,
    /** A commit needs that nothing read was written meanwhile. */
    SERIALIZABLE
  }

  private static final class Open {
    private final List<Operation> operations = new ArrayList<>();
    private final Map<Integer, List<Integer>> own = new HashMap<>();
    private final Set<Integer> read = new HashSet<>();
    private final Map<Integer, List<Integer>> snapshot;
    private final int start;
    private final long begin;

    private Open(Map<Integer, List<Integer>> snapshot, int start, long begin) {
      this.snapshot = snapshot;
      this.start = start;
      this.begin = begin;
    }
  }

  private final Isolation isolation;
  private final Random random;
  private final List<ObservedTransaction> history = new ArrayList<>();
  private final Map<Integer, Integer> lastCommit = new HashMap<>();
  private Map<Integer, List<Integer>> state = new HashMap<>();
  private int commits;
  private int values;
  private long now;

  SimulatedDatabase(Isolation isolation, long seed) {
    this.isolation = isolation;
    this.random = new Random(seed);
  }

  List<ObservedTransaction> run(int transactions) {
    List<Open> open = new ArrayList<>();
    while (history.size() < transactions) {
      now++;
      if (open.size() < OPEN) {
        open.add(new Open(state, commits, now));
      }
      Open tx = open.get(random.nextInt(open.size()));
      if (tx.operations.size() < 1 + random.nextInt(5)) {
        step(tx);
      } else {
        open.remove(tx);
        end(tx);
      }
    }
    return history;
  }

  private void step(Open tx) {
    int key = random.nextInt(KEYS);
    if (random.nextInt(3) == 0) {
      int value = ++values;
      tx.own.computeIfAbsent(key, k -> new ArrayList<>()).add(value);
      tx.operations.add(new Operation.Append(key, value));
      return;
    }
    tx.read.add(key);
    Map<Integer, List<Integer>> from = isolation == Isolation.READ_COMMITTED ? state : tx.snapshot;
    List<Integer> seen = new ArrayList<>(from.getOrDefault(key, List.of()));
    seen.addAll(tx.own.getOrDefault(key, List.of()));
    tx.operations.add(new Operation.ReadList(key, seen));
  }

  private void end(Open tx) {
    Outcome outcome = mayCommit(tx) ? Outcome.COMMITTED : Outcome.ABORTED;
    if (outcome == Outcome.COMMITTED) {
      commits++;
      Map<Integer, List<Integer>> next = new HashMap<>(state);
      tx.own.forEach(
          (key, appended) -> {
            List<Integer> list = new ArrayList<>(next.getOrDefault(key, List.of()));
            list.addAll(appended);
            next.put(key, list);
            lastCommit.put(key, commits);
          });
      state = next;
    }
    now++;
    // Now and then the answer is lost.
    Outcome seen = random.nextInt(20) == 0 ? Outcome.UNKNOWN : outcome;
    history.add(new ObservedTransaction(history.size(), tx.operations, seen, tx.begin, now));
  }

  private boolean mayCommit(Open tx) {
    return switch (isolation) {
      case READ_COMMITTED -> true;
      case SNAPSHOT -> isUnchanged(tx, tx.own.keySet());
      case SERIALIZABLE -> tx.own.isEmpty() || isUnchanged(tx, tx.read);
    };
  }

  private boolean isUnchanged(Open tx, Set<Integer> keys) {
    return keys.stream().allMatch(key -> lastCommit.getOrDefault(key, 0) <= tx.start);
  }
}
