// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.strong;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;

/**
 * Nodes of a keyspace whose log is on disk a little later than it is answered: processes that die
 * lose nothing by that, as the operating system has it.
 */
final class PeriodicDurability {
  private static final String INSERT = "INSERT INTO soon.t (p, v) VALUES (?, 'kept')";
  private static final int KEYS_OF_EACH = 100_000;

  private final StrongCluster nodes;
  private final Set<Integer> written = new HashSet<>();

  private PeriodicDurability(StrongCluster nodes) {
    this.nodes = nodes;
  }

  static void check(StrongCluster nodes) throws InterruptedException {
    nodes.execute("DROP KEYSPACE IF EXISTS soon"); // Of a test that failed.
    nodes.execute(
        "CREATE KEYSPACE soon WITH replication = {'class': 'ReplicatedLogStrategy',"
            + " 'replication_factor': 3, 'durability': 'periodic'}");
    nodes.execute("CREATE TABLE soon.t (p int PRIMARY KEY, v text)");
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    PeriodicDurability durability = new PeriodicDurability(nodes);
    durability.kill(nodes.leader(1, "soon")); // Then all: two followers and a leader.
    durability.assertAllThere();
    durability.killAll();
    durability.assertAllThere();
    nodes.execute("DROP KEYSPACE soon");
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
  }

  /** Clients of another node do not notice. */
  private void kill(int node) throws InterruptedException {
    OngoingWrites writes = OngoingWrites.start(nodes, 1 + node % 3, INSERT, node * KEYS_OF_EACH);
    nodes.cluster.node(node).kill();
    writes.awaitMore();
    written.addAll(writes.end());
    nodes.restart(node);
  }

  /** While it is written to. */
  private void killAll() throws InterruptedException {
    OngoingWrites writes = OngoingWrites.start(nodes, 1, INSERT, 0);
    nodes.killAll();
    writes.awaitMore();
    written.addAll(writes.endWithFailures());
  }

  private void assertAllThere() {
    Set<Integer> found = new HashSet<>();
    nodes.on(2, "SELECT p FROM soon.t").forEach(row -> found.add(row.getInt("p")));
    assertThat(found).containsAll(written);
  }
}
