// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.cluster.ClusterException.Reason;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** One real node, on an address of its own. */
class LocalNodeTest {

  private static final Path FOLDER = Path.of("target/clusters/local-node");
  private static LocalCluster cluster;
  private static LocalNode node;

  @BeforeAll
  static void startNode() {
    LocalCluster.removeIfPresent(FOLDER);
    NodeSpec spec =
        NodeSpec.standard()
            .withAddress("127.0.0.21")
            .withPlugin(false)
            .withEphemeral(true)
            .withJvmOption("-XX:TieredStopAtLevel=1");
    cluster = LocalCluster.create(FOLDER, 1, spec);
    cluster.start();
    node = cluster.node(1);
  }

  @AfterAll
  static void removeNode() {
    cluster.remove();
    assertThat(FOLDER).doesNotExist();
  }

  /** Each look gives up after two seconds. */
  private void assertReady() {
    assertThat(Waiting.until(LocalNode.START_BOUND, () -> node.state() == NodeState.READY))
        .isTrue();
  }

  @Test
  void whenStartedThenItIsReadyAndKnownToOthers() {
    assertReady();
    assertThat(LocalCluster.open(FOLDER).node(1).pid()).isEqualTo(node.pid());
    try (NodeTool tool = node.nodeTool()) {
      assertThat(tool.liveNodes()).containsExactly("127.0.0.21");
      assertThat(tool.joinedNodes()).containsExactly("127.0.0.21");
    }
  }

  @Test
  void whenKilledThenItIsStoppedAndSeveralStartsAtOnceStartOneProcess() {
    long before = node.pid().orElseThrow();
    assertThatThrownBy(node::loseDisks).hasMessageContaining("stop or kill it first");
    node.kill();
    assertThat(node.state()).isEqualTo(NodeState.STOPPED);
    assertThat(node.pid()).isEmpty();
    startAtOnce(4);
    assertReady();
    assertThat(node.pid().orElseThrow()).isNotEqualTo(before);
    assertThat(processes()).containsExactly(node.pid().orElseThrow());
  }

  /** As several commands would, each of which finds that the node does not run. */
  private static void startAtOnce(int commands) {
    ExecutorService threads = Executors.newFixedThreadPool(commands);
    try {
      CompletableFuture<?>[] starts =
          Stream.generate(() -> LocalCluster.open(FOLDER).node(1))
              .limit(commands)
              .map(one -> CompletableFuture.runAsync(one::start, threads))
              .toArray(CompletableFuture[]::new);
      CompletableFuture.allOf(starts).join();
    } finally {
      threads.shutdown();
    }
  }

  /** All that carry the node's folder in their command line. */
  private static List<Long> processes() {
    String marker = "-Disolde.node=" + node.folder() + " ";
    return ProcessHandle.allProcesses()
        .filter(process -> process.info().commandLine().filter(l -> l.contains(marker)).isPresent())
        .map(ProcessHandle::pid)
        .toList();
  }

  @Test
  void whenPausedThenItAnswersAgainOnlyAfterResume() {
    node.pause();
    try {
      assertThat(node.state()).isEqualTo(NodeState.PAUSED);
      assertThat(node.isReady()).isFalse();
    } finally {
      node.resume();
    }
    assertReady();
  }

  @Test
  void whenFlushedAndCompactedThenCassandraAccepts() {
    try (NodeTool tool = node.nodeTool()) {
      tool.flush("system", "local");
      tool.compact("system", "local");
      tool.garbageCollect("system", "local");
      tool.disableAutoCompaction("system", "local");
      tool.enableAutoCompaction("system");
      tool.collectHeapGarbage();
      assertThat(tool.usedHeapBytes()).isPositive();
      assertThatThrownBy(() -> tool.flush("no_such_keyspace"))
          .isInstanceOfSatisfying(
              ClusterException.class, e -> assertThat(e.reason()).isEqualTo(Reason.JMX_FAILED));
    }
  }

  @Test
  void whenItsPortsAreTakenThenAnotherNodeIsRefused() throws Exception {
    Path folder = FOLDER.resolveSibling("same-ports");
    LocalCluster.removeIfPresent(folder);
    try (LocalCluster second = LocalCluster.create(folder, 1, node.spec())) {
      assertThatThrownBy(second::start)
          .hasMessageContaining("127.0.0.21:9042")
          .isInstanceOfSatisfying(
              ClusterException.class, e -> assertThat(e.reason()).isEqualTo(Reason.PORT_TAKEN));
      second.remove();
    }
  }

  @Test
  void whenASettingIsUnknownToCassandraThenTheErrorShowsTheLog() {
    Path folder = FOLDER.resolveSibling("bad-setting");
    LocalCluster.removeIfPresent(folder);
    NodeSpec spec =
        NodeSpec.standard()
            .withAddress("127.0.0.22")
            .withPlugin(false)
            .withEphemeral(true)
            .withCassandraSetting("no_such_setting", "1");
    try (LocalCluster bad = LocalCluster.create(folder, 1, spec)) {
      assertThatThrownBy(bad::start)
          .hasMessageContaining("no_such_setting")
          .isInstanceOfSatisfying(
              ClusterException.class, e -> assertThat(e.reason()).isEqualTo(Reason.NODE_DIED));
      bad.remove();
    }
  }

  @Test
  void whenTheStartingProcessIsKilledThenItsEphemeralNodeDies() throws Exception {
    Path folder = FOLDER.resolveSibling("orphan");
    LocalCluster.removeIfPresent(folder);
    LocalCluster orphan =
        LocalCluster.create(folder, 1, node.spec().withAddress("127.0.0.22").withEphemeral(true));
    Process starter =
        new ProcessBuilder(
                Distribution.java().toString(),
                "-D"
                    + Distribution.CASSANDRA_PROPERTY
                    + "="
                    + System.getProperty(Distribution.CASSANDRA_PROPERTY),
                "-cp",
                System.getProperty("java.class.path"),
                Starter.class.getName(),
                folder.toString())
            .inheritIO()
            .start();
    Duration bound = Duration.ofSeconds(30);
    assertThat(Waiting.until(bound, () -> orphan.node(1).isAlive())).isTrue();
    starter.destroyForcibly();
    assertThat(Waiting.until(bound, () -> !orphan.node(1).isAlive())).isTrue();
    orphan.remove();
  }

  /** Starts a node that is far from ready when this process is killed. */
  static final class Starter {

    private Starter() {}

    public static void main(String[] arguments) {
      LocalCluster.open(Path.of(arguments[0])).node(1).start();
    }
  }

  @Test
  void whenThePidFileNamesAForeignProcessThenNothingIsSignalled() throws Exception {
    Path folder = FOLDER.resolveSibling("foreign-pid");
    LocalCluster.removeIfPresent(folder);
    LocalCluster foreign = LocalCluster.create(folder, 1, NodeSpec.standard());
    Files.writeString(
        foreign.node(1).folder().resolve("pid"), Long.toString(ProcessHandle.current().pid()));
    assertThat(foreign.node(1).isAlive()).isFalse();
    foreign.kill();
    foreign.remove();
    assertThat(folder).doesNotExist();
  }
}
