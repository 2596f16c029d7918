// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import java.util.List;
import java.util.Random;

/** Lets nodes of a cluster fail. */
final class Faults {
  private static final int MAX_SKEW_MILLIS = 20_000;

  private final LocalCluster cluster;
  private final CqlSession session;
  private final TortureOptions options;

  Faults(TortureCluster cluster, TortureOptions options) {
    this.cluster = cluster.nodes();
    this.session = cluster.session();
    this.options = options;
  }

  /** Draws a fault. */
  Fault next(Random random) {
    FaultKind kind = options.faults().get(random.nextInt(options.faults().size()));
    int number = 1 + random.nextInt(cluster.nodes().size());
    LocalNode node = cluster.node(number);
    return switch (kind) {
      case KILL -> new Kill("kill -9 of node " + number, List.of(node));
      case KILL_ALL -> new Kill("kill -9 of all nodes", cluster.nodes());
      case PAUSE -> new Pause("pause of node " + number, node);
      case PARTITION, MUTE, DEAF -> Cut.of(kind, number, cluster.nodes().size());
      case SKEW -> {
        Fault skew = skew(node, number, random);
        // Else a wrong clock may be that of a node that never leads.
        yield random.nextBoolean() ? new Both(skew, handOvers(random)) : skew;
      }
      case HAND_OVER -> handOvers(random);
    };
  }

  private Fault handOvers(Random random) {
    return new HandOvers(
        session,
        options.workload().handOvers(),
        cluster.nodes().stream().map(each -> each.spec().address()).toList(),
        new Random(random.nextLong()));
  }

  private Fault skew(LocalNode node, int number, Random random) {
    int millis = random.nextInt(2 * MAX_SKEW_MILLIS) - MAX_SKEW_MILLIS;
    return new Skew("clock of node %d off by %d ms".formatted(number, millis), node, millis);
  }

  private record Both(Fault outer, Fault inner) implements Fault {
    @Override
    public String name() {
      return inner.name() + " with " + outer.name();
    }

    @Override
    public void begin() {
      outer.begin();
      inner.begin();
    }

    @Override
    public void end() {
      try {
        inner.end();
      } finally {
        outer.end();
      }
    }
  }

  private record Kill(String name, List<LocalNode> nodes) implements Fault {
    @Override
    public void begin() {
      nodes.parallelStream().forEach(LocalNode::kill);
    }

    @Override
    public void end() {
      nodes.parallelStream().forEach(LocalNode::start);
    }
  }

  private record Pause(String name, LocalNode node) implements Fault {
    @Override
    public void begin() {
      node.pause();
    }

    @Override
    public void end() {
      node.resume();
    }
  }

  private record Skew(String name, LocalNode node, int millis) implements Fault {
    @Override
    public void begin() {
      ClockSkew.begin(node, millis);
    }

    @Override
    public void end() {
      ClockSkew.end(node);
    }
  }
}
