// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The direct serialization graph of a history of committed transactions (A. Adya, "Weak
 * Consistency", 1999, section 3.2), with the version order given by the commit timestamps.
 */
public final class SerializationGraph {
  /** The writer of the versions that are there at first. */
  public static final int NOBODY = -1;

  /**
   * A committed transaction.
   *
   * @param reads for each key that was read, the transaction that wrote the version found
   * @param writes the keys written, with {@code commit} as the version
   */
  public record Committed(
      int id, long start, long commit, Map<Long, Integer> reads, Set<Long> writes) {}

  private record Edge(int to, boolean isReadWrite) {}

  private record Step(int at, boolean isAfterReadWrite) {}

  private final Map<Integer, Set<Edge>> edges = new HashMap<>();

  public SerializationGraph(List<Committed> history) {
    Map<Long, TreeMap<Long, Integer>> versions = new HashMap<>();
    Map<Integer, Long> commits = new HashMap<>();
    for (Committed transaction : history) {
      commits.put(transaction.id, transaction.commit);
      for (long key : transaction.writes) {
        versions
            .computeIfAbsent(key, unseen -> new TreeMap<>())
            .put(transaction.commit, transaction.id);
      }
    }
    versions.values().forEach(ofKey -> addWriteWrite(ofKey.values()));
    for (Committed reader : history) {
      reader.reads.forEach(
          (key, writer) -> {
            add(writer, reader.id, false);
            long version = writer == NOBODY ? 0 : commits.get(writer);
            var next = versions.getOrDefault(key, new TreeMap<>()).higherEntry(version);
            add(reader.id, next == null ? NOBODY : next.getValue(), true);
          });
    }
  }

  private void addWriteWrite(Collection<Integer> writersInOrder) {
    int previous = NOBODY;
    for (int writer : writersInOrder) {
      add(previous, writer, false);
      previous = writer;
    }
  }

  private void add(int from, int to, boolean isReadWrite) {
    if (from != NOBODY && to != NOBODY && from != to) {
      edges.computeIfAbsent(from, unseen -> new HashSet<>()).add(new Edge(to, isReadWrite));
    }
  }

  /** Serializable: no cycle at all. */
  public boolean hasCycle() {
    return hasCycle(true);
  }

  /**
   * What snapshot isolation rules out: a cycle in which no two anti-dependencies (read-write)
   * follow each other (A. Fekete et al., "Making Snapshot Isolation Serializable", 2005).
   */
  public boolean hasCycleWithoutConsecutiveAntiDependencies() {
    return hasCycle(false);
  }

  /** Removes what has no predecessor until nothing or only cycles, and what they reach, is left. */
  private boolean hasCycle(boolean mayRepeatReadWrite) {
    Map<Step, Set<Step>> steps = steps(mayRepeatReadWrite);
    Map<Step, Integer> predecessors = new HashMap<>();
    steps.keySet().forEach(step -> predecessors.put(step, 0));
    steps.values().forEach(all -> all.forEach(step -> predecessors.merge(step, 1, Integer::sum)));
    Deque<Step> free = new ArrayDeque<>();
    predecessors.forEach(
        (step, count) -> {
          if (count == 0) {
            free.add(step);
          }
        });
    int removed = 0;
    while (!free.isEmpty()) {
      removed++;
      for (Step next : steps.getOrDefault(free.remove(), Set.of())) {
        if (predecessors.merge(next, -1, Integer::sum) == 0) {
          free.add(next);
        }
      }
    }
    return removed < predecessors.size();
  }

  /** The edges between (transaction, kind of the edge that led to it). */
  private Map<Step, Set<Step>> steps(boolean mayRepeatReadWrite) {
    Map<Step, Set<Step>> steps = new HashMap<>();
    edges.forEach(
        (from, all) -> {
          for (boolean isAfterReadWrite : new boolean[] {false, true}) {
            Set<Step> next = new HashSet<>();
            for (Edge edge : all) {
              if (mayRepeatReadWrite || !isAfterReadWrite || !edge.isReadWrite) {
                next.add(new Step(edge.to, edge.isReadWrite));
              }
            }
            steps.put(new Step(from, isAfterReadWrite), next);
          }
        });
    return steps;
  }
}
