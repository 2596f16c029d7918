// SPDX-License-Identifier: Apache-2.0
package io.isolde.history;

import io.isolde.history.Dependency.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import org.jgrapht.Graph;
import org.jgrapht.alg.connectivity.KosarajuStrongConnectivityInspector;

/**
 * Finds a short cycle of each kind in each knot of transactions that depend on each other: the
 * worst first, by the kinds of edges that it needs (Adya, section 3.3; Elle, section 6.1).
 */
final class CycleSearch {
  /** Of a knot, no more than so many edges are tried as the beginning of a cycle. */
  private static final int MAX_BEGINNINGS = 2_000;

  private final Graph<Integer, Dependency> graph;
  private final boolean isInRealTime;

  CycleSearch(Graph<Integer, Dependency> graph, boolean isInRealTime) {
    this.graph = graph;
    this.isInRealTime = isInRealTime;
  }

  /** A cycle and what it is. */
  record Found(Phenomenon phenomenon, List<Dependency> cycle) {}

  List<Found> search() {
    List<Found> found = new ArrayList<>();
    for (Set<Integer> knot :
        new KosarajuStrongConnectivityInspector<>(graph).stronglyConnectedSets()) {
      if (knot.size() > 1) {
        worst(knot).ifPresent(found::add);
      }
    }
    return found;
  }

  private Optional<Found> worst(Set<Integer> knot) {
    return cycle(knot, Kind.WRITE_WRITE, Rule.WRITES)
        .map(c -> new Found(Phenomenon.G0, c))
        .or(() -> cycle(knot, Kind.WRITE_READ, Rule.NO_ANTI).map(c -> new Found(Phenomenon.G1C, c)))
        .or(
            () ->
                cycle(knot, Kind.READ_WRITE, Rule.NO_ANTI)
                    .map(c -> new Found(Phenomenon.G_SINGLE, c)))
        .or(
            () ->
                cycle(knot, Kind.READ_WRITE, Rule.NONADJACENT)
                    .map(c -> new Found(Phenomenon.G_NONADJACENT, c)))
        .or(
            () ->
                cycle(knot, Kind.READ_WRITE, Rule.ANY).map(c -> new Found(Phenomenon.G2_ITEM, c)));
  }

  /** What may follow the first edge of a cycle. */
  private enum Rule {
    WRITES,
    NO_ANTI,
    NONADJACENT,
    ANY;

    boolean allows(Dependency edge, boolean afterAnti) {
      boolean isAnti = edge.kind() == Kind.READ_WRITE;
      return switch (this) {
        case WRITES -> edge.kind() == Kind.WRITE_WRITE || edge.kind() == Kind.REAL_TIME;
        case NO_ANTI -> !isAnti;
        case NONADJACENT -> !isAnti || !afterAnti;
        case ANY -> true;
      };
    }
  }

  private Optional<List<Dependency>> cycle(Set<Integer> knot, Kind first, Rule rule) {
    List<Dependency> best = null;
    int tried = 0;
    for (int node : knot) {
      for (Dependency edge : graph.outgoingEdgesOf(node)) {
        if (edge.kind() == first && knot.contains(edge.to()) && tried++ < MAX_BEGINNINGS) {
          List<Dependency> cycle = closed(edge, knot, rule);
          if (cycle != null && (best == null || cycle.size() < best.size())) {
            best = cycle;
          }
        }
      }
    }
    return Optional.ofNullable(best);
  }

  /** Where a search is: what comes next depends on the edge by which it came. */
  private record State(int node, boolean afterAnti) {}

  private record Step(State before, Dependency edge) {}

  /** The shortest way back to where the edge begins, with it; null if there is none. */
  private List<Dependency> closed(Dependency first, Set<Integer> knot, Rule rule) {
    State start = new State(first.to(), first.kind() == Kind.READ_WRITE);
    Map<State, Step> came = new HashMap<>();
    came.put(start, new Step(null, first));
    Queue<State> queue = new ArrayDeque<>(List.of(start));
    while (!queue.isEmpty()) {
      State state = queue.remove();
      for (Dependency edge : graph.outgoingEdgesOf(state.node)) {
        if (!isUsable(edge, knot) || !rule.allows(edge, state.afterAnti)) {
          continue;
        }
        boolean isAnti = edge.kind() == Kind.READ_WRITE;
        boolean closes = edge.to() == first.from();
        if (closes && !(rule == Rule.NONADJACENT && isAnti)) {
          return path(came, state, edge);
        }
        State next = new State(edge.to(), rule == Rule.NONADJACENT && isAnti);
        if (!closes && came.putIfAbsent(next, new Step(state, edge)) == null) {
          queue.add(next);
        }
      }
    }
    return null;
  }

  private boolean isUsable(Dependency edge, Set<Integer> knot) {
    return knot.contains(edge.to()) && (isInRealTime || edge.kind() != Kind.REAL_TIME);
  }

  private static List<Dependency> path(Map<State, Step> came, State last, Dependency closing) {
    List<Dependency> cycle = new ArrayList<>(List.of(closing));
    for (State state = last; state != null; ) {
      Step step = came.get(state);
      cycle.add(step.edge);
      state = step.before;
    }
    Collections.reverse(cycle);
    return cycle;
  }
}
