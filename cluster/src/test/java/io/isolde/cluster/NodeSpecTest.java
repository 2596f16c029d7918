// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeSpecTest {

  private static final NodeSpec FULL =
      NodeSpec.standard()
          .withAddress("127.0.0.7")
          .withHeapMegabytes(1024)
          .withPlugin(false)
          .withJvmOption("-XX:+UseZGC")
          .withJvmOption("-XX:OnError=a b;c")
          .withCassandraFolder(Path.of("/jars/other"))
          .withPluginJar(Path.of("/jars/older.jar"))
          .withClassPathEntry(Path.of("/jars/one.jar"))
          .withClassPathEntry(Path.of("/jars/two.jar"))
          .withCassandraSetting("cluster_name", "\"a: b\"")
          .withIsoldeSetting("history", "60s")
          .withSystemProperty("p", "1")
          .withEnvironment("LD_PRELOAD", "x.so");

  @Test
  void whenANodeIsToHaveAClassThenWhatHoldsItIsOnItsClassPath() {
    assertThat(NodeSpec.standard().withClassesOf(NodeSpec.class).classPath())
        .singleElement()
        .satisfies(entry -> assertThat(entry).exists());
  }

  @Test
  void whenNothingIsToldThenTheDefaultsAreThoseOfCassandraAndThePluginIsOn() {
    NodeSpec spec = NodeSpec.standard();
    assertThat(spec.address()).isEqualTo("127.0.0.1");
    assertThat(spec.nativePort()).isEqualTo(9042);
    assertThat(spec.storagePort()).isEqualTo(7000);
    assertThat(spec.jmxPort()).isEqualTo(7199);
    assertThat(spec.heapMegabytes()).isEqualTo(512);
    assertThat(spec.hasPlugin()).isTrue();
    assertThat(spec.isEphemeral()).isFalse();
    assertThat(spec.jvmOptions()).isEmpty();
    assertThat(spec.classPath()).isEmpty();
    assertThat(spec.cassandraFolder()).isEmpty();
    assertThat(spec.pluginJar()).isEmpty();
  }

  @Test
  void whenListsGrowThenTheOrderIsKept() {
    assertThat(FULL.jvmOptions()).containsExactly("-XX:+UseZGC", "-XX:OnError=a b;c");
    assertThat(FULL.classPath())
        .containsExactly(Path.of("/jars/one.jar"), Path.of("/jars/two.jar"));
    assertThat(FULL.cassandraFolder()).contains(Path.of("/jars/other"));
    assertThat(FULL.pluginJar()).contains(Path.of("/jars/older.jar"));
  }

  @Test
  void whenWrittenAndReadThenItIsTheSame(@TempDir Path folder) {
    Path file = folder.resolve("node.properties");
    NodeFolder.writeProperties(file, FULL.entries());
    assertThat(NodeSpec.ofEntries(NodeFolder.readProperties(file))).isEqualTo(FULL);
  }

  @Test
  void whenAValueCannotWorkThenItIsRefused() {
    NodeSpec spec = NodeSpec.standard();
    assertThatThrownBy(() -> spec.withNativePort(0)).hasMessageContaining("65535");
    assertThatThrownBy(() -> spec.withHeapMegabytes(64)).hasMessageContaining("256 MB");
    assertThatThrownBy(() -> spec.withAddress("localhost")).hasMessageContaining("IPv4");
  }
}
