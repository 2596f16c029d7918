// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import java.util.LinkedHashMap;
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
    settings.put("num_tokens", "1");
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
    settings.putAll(spec.cassandraSettings());
    return lines(settings);
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
