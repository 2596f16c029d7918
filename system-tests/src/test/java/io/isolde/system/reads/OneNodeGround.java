// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.reads;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.system.SystemNode;
import io.isolde.torture.reads.Ground;
import java.util.List;
import java.util.Random;

/** One node, which misses nothing. */
record OneNodeGround(SystemNode node) implements Ground {
  @Override
  public CqlSession session() {
    return node.session();
  }

  @Override
  public List<String> replications() {
    return List.of(
        plainReplication(), "{'class': 'ReplicatedLogStrategy', 'replication_factor': 1}");
  }

  @Override
  public String plainReplication() {
    return "{'class': 'SimpleStrategy', 'replication_factor': 1}";
  }

  @Override
  public void execute(String cql) {
    session().execute(cql);
  }

  @Override
  public void awaitSchema() {}

  @Override
  public void shuffle(String keyspace, String table, Random random) {
    Ground.shuffle(node.process(), keyspace, table, random);
  }

  @Override
  public void missedByAReplica(int time, Runnable writes) {
    writes.run();
  }

  @Override
  public String toString() {
    return "one node";
  }
}
