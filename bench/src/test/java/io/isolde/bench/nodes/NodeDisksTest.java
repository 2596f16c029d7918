// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.ToolException;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeDisksTest {
  private static final Path LIMITS =
      Path.of("/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device");

  @TempDir private Path folder;

  @Test
  void eachNodeHasItsFilesOnADiskOfItsOwnThatIsAsSlowAsWanted() throws IOException {
    LocalCluster cluster = LocalCluster.create(folder.resolve("two"), 2, NodeSpec.standard());
    FileStore shared = Files.getFileStore(cluster.folder());
    NodeDisks disks = disksOrSkip(cluster);
    try (disks) {
      Path first = cluster.folder().resolve("node1");
      Path second = cluster.folder().resolve("node2");
      assertThat(first.resolve("conf")).isDirectory();
      assertThat(Files.getFileStore(first).name())
          .isNotEqualTo(Files.getFileStore(second).name())
          .isNotEqualTo(shared.name());
      disks.limit(3 << 20);
      assertThat(Files.readString(LIMITS).lines().filter(line -> line.endsWith(" 3145728")))
          .hasSize(2);
    }
    assertThat(Files.readString(LIMITS)).doesNotContain(" 3145728");
    assertThat(Files.getFileStore(cluster.folder().resolve("node1"))).isEqualTo(shared);
    cluster.remove();
    assertThat(cluster.folder()).doesNotExist();
  }

  private static NodeDisks disksOrSkip(LocalCluster cluster) {
    try {
      return new NodeDisks(cluster);
    } catch (ToolException e) {
      Assumptions.abort("This process may not mount disks: " + e.getMessage());
      throw e;
    }
  }
}
