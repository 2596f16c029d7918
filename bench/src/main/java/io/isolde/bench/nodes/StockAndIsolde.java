// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.nodes;

import io.isolde.bench.kit.Run;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeTool;
import java.util.List;
import java.util.stream.Stream;

/** A cluster of stock Cassandra and one with the plugin, alike otherwise, at the same time. */
public record StockAndIsolde(TemporaryNode stock, TemporaryNode isolde) implements AutoCloseable {

  /**
   * Starts both.
   *
   * @param nodes how many of each
   * @param spec of both, but for the plugin
   */
  public static StockAndIsolde start(int nodes, NodeSpec spec, Run run) {
    run.say("stock: %d nodes".formatted(nodes));
    TemporaryNode stock = TemporaryNode.start("stock", nodes, spec.withPlugin(false), run.out());
    try {
      run.say("isolde: %d nodes".formatted(nodes));
      return new StockAndIsolde(stock, TemporaryNode.start("isolde", nodes, spec, run.out()));
    } catch (RuntimeException e) {
      stock.close();
      throw e;
    }
  }

  /** For calls to all nodes of both. */
  public List<NodeTool> tools() {
    return Stream.of(stock, isolde).flatMap(cluster -> cluster.tools().stream()).toList();
  }

  @Override
  public void close() {
    isolde.close();
    stock.close();
  }
}
