// SPDX-License-Identifier: Apache-2.0
package io.isolde.history;

import io.isolde.history.ObservedTransaction.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jgrapht.Graph;
import org.jgrapht.graph.DirectedMultigraph;

/** Which committed transaction comes before which, and why. */
final class DependencyGraph {
  private final Graph<Integer, Dependency> graph = new DirectedMultigraph<>(Dependency.class);
  private final Writers writers;

  DependencyGraph(List<ObservedTransaction> history, Writers writers) {
    this.writers = writers;
    history.stream().filter(writers::isCommitted).forEach(t -> graph.addVertex(t.id()));
  }

  Graph<Integer, Dependency> graph() {
    return graph;
  }

  /** The dependencies that come of one key. */
  void add(KeyVersions versions) {
    int key = versions.key();
    List<Integer> order = versions.order();
    for (int i = 0; i + 1 < order.size(); i++) {
      add(
          writer(key, order.get(i)),
          writer(key, order.get(i + 1)),
          Dependency.Kind.WRITE_WRITE,
          "of key %d, %d came before %d".formatted(key, order.get(i), order.get(i + 1)));
    }
    for (KeyVersions.Seen seen : versions.seen()) {
      addRead(key, order, seen);
    }
  }

  private void addRead(int key, List<Integer> order, KeyVersions.Seen seen) {
    int position = seen.position();
    if (position >= 0) {
      add(
          writer(key, order.get(position)),
          seen.transaction(),
          Dependency.Kind.WRITE_READ,
          "the latter read %d of key %d".formatted(order.get(position), key));
    }
    int next = position + 1;
    while (next < order.size() && writer(key, order.get(next)) == seen.transaction()) {
      next++;
    }
    if (next < order.size()) {
      add(
          seen.transaction(),
          writer(key, order.get(next)),
          Dependency.Kind.READ_WRITE,
          "the former did not see %d of key %d".formatted(order.get(next), key));
    }
  }

  private int writer(int key, int value) {
    ObservedTransaction writer = writers.of(key, value);
    return writer == null ? -1 : writer.id();
  }

  private void add(int from, int to, Dependency.Kind kind, String because) {
    if (from != to && graph.containsVertex(from) && graph.containsVertex(to)) {
      graph.addEdge(from, to, new Dependency(from, to, kind, because));
    }
  }

  private record Event(long nanos, boolean isEnd, ObservedTransaction transaction) {}

  /**
   * That one ended before another began; only what does not follow from the rest of these. One
   * whose client has no answer has not ended.
   */
  void addRealTime(List<ObservedTransaction> history) {
    List<Event> events = new ArrayList<>();
    for (ObservedTransaction transaction : history) {
      if (writers.isCommitted(transaction)) {
        events.add(new Event(transaction.beginNanos(), false, transaction));
        if (transaction.outcome() == Outcome.COMMITTED) {
          events.add(new Event(transaction.endNanos(), true, transaction));
        }
      }
    }
    // At the same moment the beginning counts first: then the two were concurrent.
    events.sort(Comparator.comparingLong(Event::nanos).thenComparing(Event::isEnd));
    Set<ObservedTransaction> latest = new LinkedHashSet<>();
    for (Event event : events) {
      if (event.isEnd) {
        latest.removeIf(other -> other.endNanos() < event.transaction.beginNanos());
        latest.add(event.transaction);
      } else {
        for (ObservedTransaction before : latest) {
          add(
              before.id(),
              event.transaction.id(),
              Dependency.Kind.REAL_TIME,
              "the former had ended when the latter began");
        }
      }
    }
  }
}
