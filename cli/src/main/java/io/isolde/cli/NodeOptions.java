// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import io.isolde.cluster.NodeSpec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** The options that say how the nodes of a new cluster are to be set up. */
final class NodeOptions {

  @Option(
      names = "--address",
      paramLabel = "IPV4",
      defaultValue = "127.0.0.1",
      description = "Address of the first node; further nodes take the next ones.")
  private String address;

  @Option(names = "--native-port", paramLabel = "PORT", defaultValue = "9042", description = "CQL.")
  private int nativePort;

  @Option(
      names = "--storage-port",
      paramLabel = "PORT",
      defaultValue = "7000",
      description = "Traffic between nodes.")
  private int storagePort;

  @Option(names = "--jmx-port", paramLabel = "PORT", defaultValue = "7199", description = "JMX.")
  private int jmxPort;

  @Option(
      names = "--heap",
      paramLabel = "MB",
      defaultValue = "512",
      description = "Java heap of each node, at least 256; a node takes about 500 MB more.")
  private int heapMegabytes;

  @Option(names = "--stock", description = "Run Cassandra without the plugin.")
  private boolean isStock;

  @Option(
      names = "--cassandra",
      paramLabel = "NAME=YAML",
      description = "A setting of cassandra.yaml. Repeatable.",
      showDefaultValue = Visibility.NEVER)
  private final Map<String, String> cassandraSettings = new LinkedHashMap<>();

  @Option(
      names = "--isolde",
      paramLabel = "NAME=YAML",
      description = "A setting of isolde.yaml. Repeatable.",
      showDefaultValue = Visibility.NEVER)
  private final Map<String, String> isoldeSettings = new LinkedHashMap<>();

  @Option(
      names = "--jvm-option",
      paramLabel = "OPTION",
      description = "An option of Java, as in --jvm-option=-Xlog:gc. Repeatable.",
      showDefaultValue = Visibility.NEVER)
  private List<String> jvmOptions = List.of();

  NodeSpec toSpec() {
    NodeSpec spec =
        NodeSpec.standard()
            .withAddress(address)
            .withNativePort(nativePort)
            .withStoragePort(storagePort)
            .withJmxPort(jmxPort)
            .withHeapMegabytes(heapMegabytes)
            .withPlugin(!isStock);
    for (Map.Entry<String, String> setting : cassandraSettings.entrySet()) {
      spec = spec.withCassandraSetting(setting.getKey(), setting.getValue());
    }
    for (Map.Entry<String, String> setting : isoldeSettings.entrySet()) {
      spec = spec.withIsoldeSetting(setting.getKey(), setting.getValue());
    }
    for (String option : jvmOptions) {
      spec = spec.withJvmOption(option);
    }
    return spec;
  }
}
