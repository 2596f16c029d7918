// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.nodes;

import io.isolde.cluster.ClusterException;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.Network;
import io.isolde.cluster.ToolException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A disk for each node of a cluster: its folder is a file system in memory. Each can be as slow as
 * wanted, so that what one node writes is not at the cost of the others.
 *
 * <p>It takes Linux, the rights of root, and control groups of version 1: those of version 2 set no
 * limit for a device whoever writes to it.
 */
final class NodeDisks implements AutoCloseable {
  private static final Path LIMITS = Path.of("/sys/fs/cgroup/blkio");

  /** The files are here: the machine's disk would have all nodes wait for one another. */
  private static final Path MEMORY = Path.of("/dev/shm");

  /** What nobody has written, or has deleted, takes no memory. */
  private static final long DISK_BYTES = 16L << 30;

  private final List<Path> folders = new ArrayList<>();
  private boolean isLimited;

  /** The folders of a cluster that has not started yet go to disks. */
  NodeDisks(LocalCluster cluster) {
    if (!Files.isDirectory(LIMITS)) {
      throw new ToolException(
          "Nodes can't have disks of their own here: there is no folder " + LIMITS + ".");
    }
    try {
      for (LocalNode node : cluster.nodes()) {
        mount(cluster.folder().resolve(node.name()));
      }
    } catch (IOException | ClusterException e) {
      close();
      throw new ToolException(
          "Nodes can't have disks of their own, which takes Linux and root's rights: %s"
              .formatted(e.getMessage()),
          e);
    }
  }

  private void mount(Path folder) throws IOException {
    Path image = Files.createTempFile(MEMORY, "isolde-disk-", "");
    try {
      try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
        file.setLength(DISK_BYTES);
      }
      Network.run("mkfs.ext4 -q -F -d %s %s".formatted(folder, image));
      Network.run("mount -o loop,discard %s %s".formatted(image, folder));
      folders.add(folder);
    } finally {
      Files.delete(image); // It goes when nothing is mounted from it any more.
    }
  }

  /**
   * Limits what each disk reads, and what it writes.
   *
   * @param bytesPerSecond 0: as fast as it can
   */
  void limit(long bytesPerSecond) {
    isLimited = bytesPerSecond > 0;
    try {
      for (Path folder : folders) {
        String limit = device(folder) + " " + bytesPerSecond;
        Files.writeString(LIMITS.resolve("blkio.throttle.read_bps_device"), limit);
        Files.writeString(LIMITS.resolve("blkio.throttle.write_bps_device"), limit);
      }
    } catch (IOException e) {
      throw new ToolException("The speed of disks can't be limited: " + e + ".", e);
    }
  }

  /** Of a mounted file system: {@code major:minor}. */
  private static String device(Path folder) throws IOException {
    long device = ((Number) Files.getAttribute(folder, "unix:dev")).longValue();
    return ((device >> 8) & 0xfff) + ":" + ((device & 0xff) | ((device >> 12) & 0xfff00));
  }

  /** Takes the disks away from nodes that have stopped, with all that is on them. */
  @Override
  public void close() {
    if (isLimited) {
      limit(0); // Whoever has these devices next has them whole.
    }
    folders.forEach(folder -> Network.run("umount -l " + folder));
    folders.clear();
  }
}
