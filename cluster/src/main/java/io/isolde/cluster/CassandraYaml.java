// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The content of cassandra.yaml and isolde.yaml: one line per setting. Values are YAML already;
 * folders are absent, since Cassandra derives them from its storage folder.
 */
final class CassandraYaml {

  private CassandraYaml() {}

  /** Returns cassandra.yaml: what every local node has, then the settings of this one. */
  static String cassandra(NodeSpec spec) {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("cluster_name", "isolde");
    settings.put("partitioner", "org.apache.cassandra.dht.Murmur3Partitioner");
    settings.put("num_tokens", Integer.toString(spec.tokens()));
    settings.put("auto_bootstrap", "false");
    settings.put("seed_provider", seeds(spec.address() + ":" + spec.storagePort()));
    settings.put("listen_address", spec.address());
    settings.put("rpc_address", spec.address());
    settings.put("storage_port", Integer.toString(spec.storagePort()));
    settings.put("native_transport_port", Integer.toString(spec.nativePort()));
    settings.put("endpoint_snitch", "SimpleSnitch");
    settings.put("commitlog_sync", "periodic");
    settings.put("commitlog_sync_period", "10s");
    settings.put("materialized_views_enabled", "true");
    settings.put("user_defined_functions_enabled", "true");
    settings.putAll(queuesBetweenNodes(spec.heapMegabytes()));
    settings.putAll(spec.cassandraSettings());
    return lines(settings);
  }

  /**
   * What Cassandra keeps for nodes that are slow to take it, and what it takes before it is worked
   * on. Its defaults, 128 MB for each node and 512 MB for all, are the whole of a small heap.
   */
  private static Map<String, String> queuesBetweenNodes(int heapMegabytes) {
    int ofOne = Math.min(128, Math.max(32, heapMegabytes / 16));
    int ofAll = Math.min(512, Math.max(64, heapMegabytes / 8));
    Map<String, String> settings = new LinkedHashMap<>();
    for (String queue : List.of("send", "receive")) {
      String name = "internode_application_%s_queue_reserve_%s_capacity";
      settings.put(name.formatted(queue, "endpoint"), ofOne + "MiB");
      settings.put(name.formatted(queue, "global"), ofAll + "MiB");
    }
    return settings;
  }

  /** Returns isolde.yaml: just the settings of this node, the plugin has defaults for all. */
  static String isolde(NodeSpec spec) {
    return lines(spec.isoldeSettings());
  }

  /** Returns the value of {@code seed_provider} for addresses with ports, separated by commas. */
  static String seeds(String addresses) {
    return "[{class_name: org.apache.cassandra.locator.SimpleSeedProvider,"
        + " parameters: [{seeds: \"%s\"}]}]".formatted(addresses);
  }

  private static String lines(Map<String, String> settings) {
    StringBuilder yaml = new StringBuilder("# Written by Isolde; read at the next start.\n");
    settings.forEach((name, value) -> yaml.append(name).append(": ").append(value).append('\n'));
    return yaml.toString();
  }
}
