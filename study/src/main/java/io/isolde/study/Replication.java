// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.cluster.ToolException;
import java.util.Map;
import java.util.TreeMap;

/** Where the replicas of the study's keyspace are to be. */
final class Replication {
  private Replication() {}

  /** Over the datacenters that a cluster has. */
  static String of(CqlSession session) {
    Map<String, Integer> nodes = new TreeMap<>();
    session
        .getMetadata()
        .getNodes()
        .values()
        .forEach(node -> nodes.merge(String.valueOf(node.getDatacenter()), 1, Integer::sum));
    return over(nodes);
  }

  /**
   * Three replicas in all, as evenly over the datacenters as can be, for CREATE KEYSPACE.
   *
   * @param nodes how many there are, by datacenter
   * @throws ToolException if there are fewer than replicas
   */
  static String over(Map<String, Integer> nodes) {
    int all = nodes.values().stream().mapToInt(each -> each).sum();
    if (all < StudyOptions.REPLICAS) {
      throw new ToolException(
          "A study needs at least %d nodes; the cluster has %d."
              .formatted(StudyOptions.REPLICAS, all));
    }
    Map<String, Integer> replicas = new TreeMap<>();
    int left = StudyOptions.REPLICAS;
    for (int round = 1; left > 0; round++) {
      for (String datacenter : new TreeMap<>(nodes).keySet()) {
        if (left > 0 && nodes.get(datacenter) >= round) {
          replicas.merge(datacenter, 1, Integer::sum);
          left--;
        }
      }
    }
    StringBuilder options = new StringBuilder("{'class': 'NetworkTopologyStrategy'");
    replicas.forEach((name, count) -> options.append(", '%s': %d".formatted(name, count)));
    return options.append('}').toString();
  }
}
