// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeTool;
import java.io.PrintWriter;
import java.util.List;
import java.util.stream.Stream;

/** A cluster of stock Cassandra and one with the plugin, alike otherwise, at the same time. */
final class StockAndIsolde implements AutoCloseable {
  private final Cluster stock;
  private final Cluster isolde;

  /** The nodes of one kind, a session and calls to them. */
  private record Cluster(TemporaryNode nodes, CqlSession session, List<NodeTool> tools)
      implements AutoCloseable {
    static Cluster start(String name, int nodes, NodeSpec spec, PrintWriter out) {
      out.printf("%s: %d nodes%n", name, nodes);
      TemporaryNode started = TemporaryNode.start(name, nodes, spec, out);
      try {
        List<NodeTool> tools = started.nodes().stream().map(LocalNode::nodeTool).toList();
        return new Cluster(started, started.connect(), tools);
      } catch (RuntimeException e) {
        started.close();
        throw e;
      }
    }

    @Override
    public void close() {
      session.close();
      tools.forEach(NodeTool::close);
      nodes.close();
    }
  }

  private StockAndIsolde(Cluster stock, Cluster isolde) {
    this.stock = stock;
    this.isolde = isolde;
  }

  /**
   * Starts both.
   *
   * @param nodes how many of each
   * @param spec of both, but for the plugin
   */
  static StockAndIsolde start(int nodes, NodeSpec spec, PrintWriter out) {
    Cluster stock = Cluster.start("stock", nodes, spec.withPlugin(false), out);
    try {
      return new StockAndIsolde(stock, Cluster.start("isolde", nodes, spec, out));
    } catch (RuntimeException e) {
      stock.close();
      throw e;
    }
  }

  CqlSession stock() {
    return stock.session();
  }

  CqlSession isolde() {
    return isolde.session();
  }

  /** For calls to all nodes of both. */
  List<NodeTool> tools() {
    return Stream.of(stock, isolde).flatMap(cluster -> cluster.tools().stream()).toList();
  }

  @Override
  public void close() {
    isolde.close();
    stock.close();
  }
}
