// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.ToolException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Sets the clocks of nodes wrong while they run. */
public final class ClockSkew {
  static final String FILE_PROPERTY = "isolde.torture.skew";

  /** By name: the class can only be loaded where Cassandra is. */
  private static final String CLOCK = "io.isolde.torture.SkewedClock";

  private ClockSkew() {}

  /** Returns the spec of nodes whose clocks can be set, once {@link #prepare} was called, too. */
  public static NodeSpec allowedBy(NodeSpec spec) {
    return spec.withClassesOf(ClockSkew.class).withSystemProperty("cassandra.clock", CLOCK);
  }

  /** Tells each node of a cluster, which does not run yet, where to look for its skew. */
  public static void prepare(LocalCluster cluster) {
    for (LocalNode node : cluster.nodes()) {
      node.reconfigure(spec -> spec.withSystemProperty(FILE_PROPERTY, file(node).toString()));
    }
  }

  /**
   * Sets a node's clock wrong, until {@link #end}. The node notices within 100 ms.
   *
   * @param millis how far ahead; a negative number is behind
   */
  public static void begin(LocalNode node, int millis) {
    try {
      Files.writeString(file(node), Integer.toString(millis));
    } catch (IOException e) {
      throw new ToolException("The file " + file(node) + " can't be written.", e);
    }
  }

  /** Sets a node's clock right again. */
  public static void end(LocalNode node) {
    try {
      Files.delete(file(node));
    } catch (IOException e) {
      throw new ToolException("The file " + file(node) + " can't be deleted.", e);
    }
  }

  private static Path file(LocalNode node) {
    return node.folder().resolve("clock-skew-millis");
  }
}
