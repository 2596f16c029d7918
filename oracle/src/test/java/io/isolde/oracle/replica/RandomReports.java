// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import io.isolde.oracle.configuration.ConfigurationReport;
import io.isolde.oracle.configuration.GroupInfo;
import io.isolde.oracle.configuration.NodeInfo;
import java.util.List;
import java.util.Random;
import java.util.UUID;

/** Reports of a few nodes and groups. */
final class RandomReports {
  private RandomReports() {}

  static ConfigurationReport next(Random random) {
    UUID host = new UUID(1, random.nextInt(3));
    UUID group = new UUID(2, random.nextInt(3));
    int term = random.nextInt(20);
    return switch (random.nextInt(5)) {
      case 0 ->
          new ConfigurationReport.RegisterNode(
              new NodeInfo(host, "a" + random.nextInt(3), "ö", "dc", ""), random.nextInt(20));
      case 1 -> new ConfigurationReport.DeregisterNode(host, term);
      case 2 -> new ConfigurationReport.NewLeader(group, host, term);
      case 3 -> new ConfigurationReport.DeregisterGroup(group, term);
      default ->
          new ConfigurationReport.RegisterGroup(
              new GroupInfo(
                  group,
                  "keyspace",
                  random.nextInt(3),
                  "BATCH",
                  List.of(new GroupInfo.Range(random.nextLong(), random.nextLong())),
                  List.of(host, new UUID(1, 9))),
              host,
              term,
              random.nextInt(5));
    };
  }
}
