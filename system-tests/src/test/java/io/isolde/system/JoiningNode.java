// SPDX-License-Identifier: Apache-2.0
package io.isolde.system;

import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** A node, with a folder of its own, that joins the ring of others. */
public final class JoiningNode {
  private JoiningNode() {}

  /**
   * Makes it; when it is started it gets its part of the data, and then answers.
   *
   * @param name of its folder
   * @param member of the ring, whose settings it has
   */
  public static LocalCluster create(String name, LocalNode member, String address) {
    Path folder = TestFork.clusters().resolve(name);
    LocalCluster.removeIfPresent(folder);
    LocalCluster joining =
        LocalCluster.create(
            folder,
            1,
            member
                .spec()
                .withAddress(address)
                .withCassandraSetting("auto_bootstrap", "true")
                // Or it joins before it has heard of the schema.
                .withSystemProperty("cassandra.ring_delay_ms", "8000"));
    String seeds = member.spec().cassandraSettings().get("seed_provider");
    joining
        .node(1)
        .reconfigure(
            spec ->
                spec.withCassandraSetting("seed_provider", seeds)
                    .withCassandraSetting("initial_token", tokens(spec.tokens())));
    return joining;
  }

  /** In the middle between those of one or three members, so that each is worth a range. */
  public static String tokens(int count) {
    long step = Long.MAX_VALUE / count * 2;
    return LongStream.range(0, count)
        .map(i -> Long.MIN_VALUE + step / 2 + i * step)
        .mapToObj(Long::toString)
        .collect(Collectors.joining(",", "\"", "\""));
  }
}
