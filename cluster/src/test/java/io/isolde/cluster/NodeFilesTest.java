// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.cluster.ClusterException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is written for a node, and what a cluster's folder tells later. */
class NodeFilesTest {

  private static final NodeSpec STOCK = NodeSpec.standard().withPlugin(false);

  @TempDir private Path folder;

  @Test
  void whenACassandraSettingIsGivenThenItReplacesTheDefault() {
    String yaml =
        CassandraYaml.cassandra(
            STOCK
                .withAddress("127.0.0.5")
                .withCassandraSetting("commitlog_sync_period", "20ms")
                .withCassandraSetting("cdc_enabled", "true"));
    assertThat(yaml.lines())
        .contains(
            "listen_address: 127.0.0.5",
            "rpc_address: 127.0.0.5",
            "commitlog_sync_period: 20ms",
            "cdc_enabled: true")
        .doesNotContain("commitlog_sync_period: 10s");
  }

  @Test
  void whenTheHeapIsSmallThenWhatIsKeptForSlowNodesIsAPartOfIt() {
    assertThat(CassandraYaml.cassandra(STOCK.withHeapMegabytes(1024)).lines())
        .contains(
            "internode_application_send_queue_reserve_endpoint_capacity: 64MiB",
            "internode_application_send_queue_reserve_global_capacity: 128MiB",
            "internode_application_receive_queue_reserve_endpoint_capacity: 64MiB",
            "internode_application_receive_queue_reserve_global_capacity: 128MiB");
    assertThat(CassandraYaml.cassandra(STOCK.withHeapMegabytes(8192)).lines())
        .contains(
            "internode_application_send_queue_reserve_endpoint_capacity: 128MiB",
            "internode_application_send_queue_reserve_global_capacity: 512MiB");
  }

  @Test
  void whenIsoldeSettingsAreGivenThenIsoldeYamlHasJustThem() {
    assertThat(CassandraYaml.isolde(STOCK.withIsoldeSetting("history", "60s")).lines())
        .filteredOn(line -> !line.startsWith("#"))
        .containsExactly("history: 60s");
  }

  @Test
  void whenANodeIsStockThenItsCommandLineKnowsNothingOfThePlugin() throws IOException {
    String stock = arguments(STOCK);
    assertThat(stock)
        .doesNotContain("isolde.config")
        .contains("\"-Xmx512m\"", "\"-XX:G1HeapRegionSize=4m\"");
    assertThat(arguments(STOCK.withJvmOption("-Dquoted=a \"b\"")))
        .contains("\"-Dquoted=a \\\"b\\\"\"");
  }

  @Test
  void whenThePluginsJarIsMissingOrSomethingElseThenTheErrorSaysSo() throws IOException {
    assertThatThrownBy(() -> arguments(NodeSpec.standard()))
        .hasMessageContaining(Distribution.PLUGIN_PROPERTY);
    Path jars = jars();
    Distribution noJar = new Distribution(jars, Optional.of(folder.resolve("isolde.jar")));
    assertThatThrownBy(noJar::pluginJar).hasMessageContaining("does not exist");
    Distribution none = new Distribution(folder.resolve("none"), Optional.empty());
    assertThatThrownBy(none::cassandraJars).hasMessageContaining("Build the project");
  }

  @Test
  void whenAClusterIsCreatedThenItsNodesDifferInAddressAndTokenOnly() {
    LocalCluster cluster = LocalCluster.create(folder.resolve("three"), 3, STOCK.withTokens(1));
    assertThat(cluster.nodes())
        .extracting(LocalNode::name)
        .containsExactly("node1", "node2", "node3");
    assertThat(cluster.node(3).contactPoint()).hasToString("/127.0.0.3:9042");
    assertThat(cluster.node(2).spec())
        .isEqualTo(
            cluster
                .node(1)
                .spec()
                .withAddress("127.0.0.2")
                .withCassandraSetting("initial_token", "\"-3074457345618258603\""));
    assertThat(cluster.nodes()).allMatch(node -> node.state() == NodeState.STOPPED);
  }

  @Test
  void whenTheNumberOfTokensIsSetThenEachNodeHasSoManyElseSixteen() throws IOException {
    LocalCluster four =
        LocalCluster.create(
            folder.resolve("four"), 3, STOCK.withCassandraSetting("num_tokens", "4"));
    assertThat(Files.readString(four.node(2).folder().resolve("conf/cassandra.yaml")))
        .contains("num_tokens: 4\n")
        .containsPattern("initial_token: \"(-?\\d+,){3}-?\\d+\"\n");
    LocalCluster usual = LocalCluster.create(folder.resolve("usual"), 2, STOCK);
    assertThat(Files.readString(usual.node(2).folder().resolve("conf/cassandra.yaml")))
        .contains("num_tokens: 16\n")
        .containsPattern("initial_token: \"(-?\\d+,){15}-?\\d+\"\n");
  }

  @Test
  void whenTheNumberOfTokensIsNoneThenTheErrorNamesIt() {
    assertThatThrownBy(
            () ->
                LocalCluster.create(
                    folder.resolve("none"), 2, STOCK.withCassandraSetting("num_tokens", "0")))
        .hasMessageContaining("num_tokens is a number from 1 to 1536, not \"0\"");
  }

  @Test
  void whenANodeIsReconfiguredThenItsFilesFollow() throws IOException {
    LocalNode node = LocalCluster.create(folder.resolve("one"), 1, STOCK).node(1);
    node.reconfigure(spec -> spec.withIsoldeSetting("history", "5s"));
    assertThat(node.spec().isoldeSettings()).containsEntry("history", "5s");
    assertThat(node.folder().resolve("conf/isolde.yaml")).content().contains("history: 5s");
  }

  @Test
  void whenAFolderIsInUseOrHoldsNoClusterThenTheErrorSaysWhich() {
    Path used = folder.resolve("used");
    LocalCluster.create(used, 1, STOCK);
    assertReason(Reason.FOLDER_EXISTS, () -> LocalCluster.create(used, 1, STOCK));
    assertReason(Reason.UNKNOWN_CLUSTER, () -> LocalCluster.open(folder.resolve("other")));
    assertReason(
        Reason.ILLEGAL_SETTING, () -> LocalCluster.create(folder.resolve("zero"), 0, STOCK));
    assertThatThrownBy(() -> LocalCluster.open(folder.resolve("other")))
        .hasMessageContaining(folder.resolve("other").toString());
  }

  @Test
  void whenANodeIsStoppedThenItCannotBePausedOrManaged() {
    LocalNode node = LocalCluster.create(folder.resolve("stopped"), 1, STOCK).node(1);
    assertReason(Reason.NOT_RUNNING, node::pause);
    assertReason(Reason.NOT_RUNNING, node::nodeTool);
    node.stop();
    assertThat(node.isAlive()).isFalse();
  }

  @Test
  void whenANodeLosesItsDisksThenItsSettingsAndLogsStay() throws IOException {
    LocalNode node = LocalCluster.create(folder.resolve("lost"), 1, STOCK).node(1);
    NodeSpec spec = node.spec();
    Files.createDirectories(node.folder().resolve("data/system"));
    Files.writeString(node.folder().resolve("data/system/table"), "rows");
    Files.writeString(node.systemLog(), "logged");
    assertThat(node.hasData()).isTrue();
    node.loseDisks();
    assertThat(node.hasData()).isFalse();
    assertThat(node.spec()).isEqualTo(spec);
    assertThat(node.systemLog()).hasContent("logged");
  }

  private String arguments(NodeSpec spec) throws IOException {
    Distribution distribution = new Distribution(jars(), Optional.empty());
    return JvmArguments.file(spec, new NodeFolder(folder), distribution);
  }

  private Path jars() throws IOException {
    Path jars = Files.createDirectories(folder.resolve("jars"));
    Files.writeString(jars.resolve("cassandra-all-5.0.6.jar"), "");
    Files.writeString(jars.resolve("jamm-0.4.0.jar"), "");
    return jars;
  }

  private static void assertReason(Reason reason, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            ClusterException.class, e -> assertThat(e.reason()).isEqualTo(reason));
  }
}
