// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.ycsb;

import io.isolde.bench.kit.Cases;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.nodes.RowTable;
import io.isolde.bench.nodes.TemporaryNode;

/**
 * YCSB's workloads and pH1's mix on one node, on a plain table and on a transactional one: there
 * each operation is a transaction of its own, and so is an update of ten rows.
 */
public final class YcsbBenchmark {
  private YcsbBenchmark() {}

  /** Runs it. */
  public static Report run(Run run) {
    try (TemporaryNode node =
        TemporaryNode.start("bench", TemporaryNode.spec(run.options()), run.out())) {
      node.createKeyspace(RowTable.KEYSPACE);
      try (YcsbTable plain = create(node, "plain_usertable", false, run);
          YcsbTable transactional = create(node, "usertable", true, run)) {
        plain.load();
        transactional.load();
        node.flush(RowTable.KEYSPACE);
        Cases cases = new Cases();
        for (Mix mix : Mix.all()) {
          String name = "ycsb_" + mix.name();
          cases
              .add(name + "_plain", plain.operations(mix))
              .add(name, transactional.operations(mix))
              .ratio(name + "_vs_plain", name, name + "_plain");
        }
        return run.measure(node.tools(), cases);
      }
    }
  }

  private static YcsbTable create(
      TemporaryNode node, String name, boolean isTransactional, Run run) {
    String table = RowTable.KEYSPACE + "." + name;
    node.session().execute(CqlRows.createStatement(table));
    if (isTransactional) {
      node.session().execute("ENABLE TRANSACTIONS ON " + table);
    }
    return new YcsbTable(node.session(), table, run.options(), isTransactional);
  }
}
