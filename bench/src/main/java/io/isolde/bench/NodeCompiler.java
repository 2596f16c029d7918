// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import io.isolde.cluster.NodeTool;
import io.isolde.cluster.ToolException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;

/**
 * The just-in-time compilers of nodes. Under full load on few cores they fall behind for minutes,
 * since a hundred request threads want the same cores, and what is measured meanwhile is an
 * interpreter.
 */
final class NodeCompiler {
  private static final Duration LOOK = Duration.ofMillis(250);

  /** Of one core, spent compiling: less than this is the usual trickle. */
  private static final double CALM_SHARE = 0.1;

  private static final int CALM_LOOKS = 2;

  /** It goes on at the next pause, if that was too short. */
  private static final Duration MAX_PAUSE = Duration.ofSeconds(5);

  private final List<NodeTool> nodes;

  NodeCompiler(List<NodeTool> nodes) {
    this.nodes = nodes;
  }

  /** Waits until the compiler has little left to do, for {@link #MAX_PAUSE} at most. */
  void awaitCalm() {
    long deadline = System.nanoTime() + MAX_PAUSE.toNanos();
    int calm = 0;
    while (calm < CALM_LOOKS && System.nanoTime() - deadline < 0) {
      long before = compilationMillis();
      pause();
      double share = (double) (compilationMillis() - before) / LOOK.toMillis();
      calm = share < CALM_SHARE ? calm + 1 : 0;
    }
  }

  /** Counts what the compilers do from now on, those of the nodes and of this process. */
  Watch watch() {
    return new Watch();
  }

  /** A look at the compilers that has begun. */
  final class Watch {
    private final long startNanos = System.nanoTime();
    private final long startMillis = compilationMillis() + ownMillis();

    private Watch() {}

    /** Returns the share of one core that they have had so far; above 1 if several had one each. */
    double share() {
      double millis = compilationMillis() + ownMillis() - startMillis;
      return millis * 1e6 / Math.max(1, System.nanoTime() - startNanos);
    }

    /** Returns whether there was just the usual trickle. */
    boolean isCalm() {
      return share() < CALM_SHARE;
    }
  }

  private static long ownMillis() {
    return ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
  }

  private long compilationMillis() {
    return nodes.stream()
        .mapToLong(
            node -> (Long) node.attribute("java.lang:type=Compilation", "TotalCompilationTime"))
        .sum();
  }

  private static void pause() {
    try {
      Thread.sleep(LOOK.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ToolException("The measurement was interrupted.", e);
    }
  }
}
