// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.strong;

import io.isolde.cluster.ToolException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Gives each of some processes so much of the processors and no more, as if they were on machines
 * of their own: what one of them does is then not at the cost of the others. By control groups of
 * Linux, version 1 or 2, which takes the rights of root.
 */
final class CoreQuota implements AutoCloseable {
  private static final Path ROOT = Path.of("/sys/fs/cgroup");
  private static final Path VERSION_1 = ROOT.resolve("cpu");

  /** Short: who has used up its share waits for the rest of it. */
  private static final int PERIOD_MICROS = 10_000;

  private final List<Path> groups = new ArrayList<>();
  private final List<Long> pids;

  /**
   * @param cores how many each may use; a fraction is of the time of one
   */
  CoreQuota(List<Long> pids, double cores) {
    this.pids = List.copyOf(pids);
    long quotaMicros = Math.round(PERIOD_MICROS * cores);
    try {
      for (long pid : pids) {
        limit(pid, quotaMicros);
      }
    } catch (IOException e) {
      close();
      throw new ToolException(
          "Processor time can't be shared out, for which Linux and root's rights are needed: %s."
              .formatted(e),
          e);
    }
  }

  private void limit(long pid, long quotaMicros) throws IOException {
    boolean isVersion1 = Files.isDirectory(VERSION_1);
    if (!isVersion1) {
      write(ROOT.resolve("cgroup.subtree_control"), "+cpu");
    }
    Path group = (isVersion1 ? VERSION_1 : ROOT).resolve("isolde-bench-" + pid);
    groups.add(Files.createDirectory(group));
    if (isVersion1) {
      write(group.resolve("cpu.cfs_period_us"), PERIOD_MICROS);
      write(group.resolve("cpu.cfs_quota_us"), quotaMicros);
    } else {
      write(group.resolve("cpu.max"), quotaMicros + " " + PERIOD_MICROS);
    }
    write(group.resolve("cgroup.procs"), pid);
  }

  private static void write(Path file, Object value) throws IOException {
    Files.writeString(file, value.toString());
  }

  /** They may use all again. */
  @Override
  public void close() {
    for (int i = 0; i < groups.size(); i++) {
      Path group = groups.get(i);
      try {
        write(group.resolveSibling("cgroup.procs"), pids.get(i));
      } catch (IOException gone) {
        // Then the group is empty, too.
      }
      try {
        Files.delete(group);
      } catch (IOException stillInUse) {
        // An empty group that is left over does no harm.
      }
    }
  }
}
