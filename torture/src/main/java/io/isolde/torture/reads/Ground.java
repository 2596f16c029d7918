// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture.reads;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeTool;
import java.util.List;
import java.util.Random;

/** Where tables are made and read. */
public interface Ground {
  /** Of which reads see all writes, whatever a replica has missed. */
  CqlSession session();

  /** How keyspaces of transactional tables are replicated; each table is in one of them. */
  List<String> replications();

  /** How the keyspace of the plain tables is, which tell what is right. */
  String plainReplication();

  /** Executes through a node that is not about to miss anything. */
  void execute(String cql);

  /** Waits until all nodes know of the schema. */
  void awaitSchema();

  /** Writes a table to disk, or merges what is there, on any node, or does nothing. */
  void shuffle(String keyspace, String table, Random random);

  /** The same on this node. */
  static void shuffle(LocalNode node, String keyspace, String table, Random random) {
    int what = random.nextInt(3);
    if (what == 0) {
      return;
    }
    try (NodeTool tool = node.nodeTool()) {
      tool.flush(keyspace, table);
      if (what == 2) {
        tool.compact(keyspace, table);
      }
    }
  }

  /**
   * Lets writes happen of which a replica does not get to know, where there are several.
   *
   * @param time the first, the second, …: another replica each time
   */
  void missedByAReplica(int time, Runnable writes);
}
