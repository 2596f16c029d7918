// SPDX-License-Identifier: Apache-2.0
package io.isolde.history;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Says what is wrong with a history. */
public final class HistoryChecker {
  /** What the database promises. */
  public enum Level {
    /** Everything is forbidden. */
    SERIALIZABLE,
    /** Write skew is allowed. */
    SNAPSHOT
  }

  private final List<ObservedTransaction> history;
  private final Level level;
  private final boolean hasFinalReads;
  private final List<Anomaly> anomalies = new ArrayList<>();

  private HistoryChecker(List<ObservedTransaction> history, Level level, boolean hasFinalReads) {
    this.history = history;
    this.level = level;
    this.hasFinalReads = hasFinalReads;
  }

  /**
   * Looks for anomalies, in real time too: both levels are promised to be strict.
   *
   * @param history each key is either a list or a register throughout; every {@code id} is unique
   * @param hasFinalReads whether every key was read after all writes had ended, so that what is not
   *     there then is lost
   * @return what the level forbids and was found; empty if all is well
   * @throws IllegalArgumentException if a value is written twice, or a register is written unread
   */
  public static List<Anomaly> check(
      List<ObservedTransaction> history, Level level, boolean hasFinalReads) {
    return new HistoryChecker(history, level, hasFinalReads).check();
  }

  private List<Anomaly> check() {
    Writers writers = new Writers(history);
    List<KeyVersions> versions = new ArrayList<>();
    versions.addAll(new ListAppends(history, writers, anomalies).versions());
    versions.addAll(new Registers(history, writers, anomalies).versions());
    if (hasFinalReads) {
      findLostWrites(writers, versions);
    }
    DependencyGraph dependencies = new DependencyGraph(history, writers);
    versions.forEach(dependencies::add);
    Set<Phenomenon> found = addCycles(dependencies, false, Set.of());
    dependencies.addRealTime(history);
    addCycles(dependencies, true, found);
    anomalies.removeIf(
        anomaly -> level == Level.SNAPSHOT && !anomaly.phenomenon().isForbiddenBySnapshot());
    return List.copyOf(anomalies);
  }

  private void findLostWrites(Writers writers, List<KeyVersions> versions) {
    Map<Integer, List<Integer>> acknowledged = writers.acknowledged();
    for (KeyVersions ofKey : versions) {
      Set<Integer> there = new HashSet<>(ofKey.order());
      for (int value : acknowledged.getOrDefault(ofKey.key(), List.of())) {
        if (!there.contains(value) && !writers.isIntermediate(ofKey.key(), value)) {
          anomalies.add(
              Anomaly.of(
                  Phenomenon.LOST_WRITE,
                  "value %d of key %d".formatted(value, ofKey.key()),
                  writers.of(ofKey.key(), value).toString()));
        }
      }
    }
  }

  private Set<Phenomenon> addCycles(
      DependencyGraph dependencies, boolean isInRealTime, Set<Phenomenon> known) {
    Set<Phenomenon> found = new HashSet<>();
    for (CycleSearch.Found each : new CycleSearch(dependencies.graph(), isInRealTime).search()) {
      found.add(each.phenomenon());
      if (!known.contains(each.phenomenon())) {
        anomalies.add(new Anomaly(each.phenomenon(), isInRealTime, details(each.cycle())));
      }
    }
    return found;
  }

  private List<String> details(List<Dependency> cycle) {
    List<String> lines = new ArrayList<>();
    for (Dependency dependency : cycle) {
      lines.add(dependency.toString());
    }
    for (ObservedTransaction transaction : history) {
      if (cycle.stream().anyMatch(edge -> edge.from() == transaction.id())) {
        lines.add(transaction.toString());
      }
    }
    return lines;
  }
}
