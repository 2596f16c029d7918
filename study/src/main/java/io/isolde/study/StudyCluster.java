// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.cluster.ClusterException;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.ToolException;
import io.isolde.study.StudyOptions.Running;
import io.isolde.study.distances.Distances;
import io.isolde.study.live.NodeSessions;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** The nodes that are studied: local ones, which are gone afterwards, or a running cluster. */
final class StudyCluster implements AutoCloseable {
  private static final String NAME = "cluster";
  private static final String NAME_OF_JOINING = "joining";
  private static final Duration MEMBERSHIP = Duration.ofMinutes(3);

  /** By name: it can only be loaded where Cassandra is. */
  private static final String DISTANT_SNITCH = "io.isolde.study.distances.DistantSnitch";

  private static final String RING_DELAY_MILLIS = "8000";

  /** Nodes that start at the same time: each keeps a core busy. */
  private static final int AT_ONCE = 2;

  private final Optional<LocalCluster> local;
  private final List<InetSocketAddress> contactPoints;
  private final StudyOptions options;
  private final Path folder;
  private volatile Optional<LocalCluster> joining = Optional.empty();

  private StudyCluster(
      Optional<LocalCluster> local,
      List<InetSocketAddress> contactPoints,
      StudyOptions options,
      Path folder) {
    this.local = local;
    this.contactPoints = contactPoints;
    this.options = options;
    this.folder = folder;
  }

  static StudyCluster start(StudyOptions options, Path folder, Consumer<String> progress) {
    if (options.running().isPresent()) {
      return new StudyCluster(
          Optional.empty(), List.of(options.running().get().contactPoint()), options, folder);
    }
    LocalCluster cluster = create(options, folder);
    if (!options.profile().hasRackDistance()) {
      progress.accept("No distance \"rack:\" is given: nodes of the same rack have no delay.");
    }
    try {
      for (int first = 0; first < options.nodes(); first += AT_ONCE) {
        List<LocalNode> pair =
            cluster.nodes().subList(first, Math.min(options.nodes(), first + AT_ONCE));
        pair.parallelStream().forEach(LocalNode::start);
        progress.accept("%d of %d nodes answer".formatted(first + pair.size(), options.nodes()));
      }
      cluster.awaitMembership(MEMBERSHIP);
    } catch (ClusterException e) {
      cluster.kill();
      throw e;
    }
    return new StudyCluster(Optional.of(cluster), cluster.contactPoints(), options, folder);
  }

  private static LocalCluster create(StudyOptions options, Path folder) {
    Path place = folder.resolve(NAME);
    LocalCluster.removeIfPresent(place);
    LocalCluster cluster = LocalCluster.create(place, options.nodes(), spec(options, folder));
    for (int i = 0; i < options.nodes(); i++) {
      place(cluster.node(i + 1), i, options, folder);
    }
    return cluster;
  }

  /** Puts a node (the first has index 0) into its datacenter and rack. */
  private static void place(LocalNode node, int index, StudyOptions options, Path folder) {
    Path rackFile =
        write(
            folder.resolve("rack-of-node%d.properties".formatted(index + 1)),
            "dc=%s%nrack=%s%n"
                .formatted(options.profile().datacenterOf(index), options.profile().rackOf(index)));
    node.reconfigure(
        spec ->
            spec.withSystemProperty("cassandra-rackdc.properties", rackFile.toUri().toString()));
  }

  /**
   * Small and quiet: many nodes share a few cores, and nothing but the delays is to be measured.
   */
  private static NodeSpec spec(StudyOptions options, Path folder) {
    NodeSpec spec =
        NodeSpec.standard()
            .withAddress(address(0))
            .withHeapMegabytes(options.heapMegabytes())
            .withEphemeral(true)
            // So that a joining node finds its place between two others.
            .withTokens(1)
            .withJvmOption("-XX:-UseG1GC")
            .withJvmOption("-XX:+UseSerialGC")
            .withJvmOption("-XX:TieredStopAtLevel=1")
            .withCassandraSetting("endpoint_snitch", "GossipingPropertyFileSnitch")
            // Replicas are then preferred by distance alone, as the model has it.
            .withCassandraSetting("dynamic_snitch", "false")
            .withCassandraSetting("auto_snapshot", "false")
            .withCassandraSetting("memtable_heap_space", "64MiB")
            .withCassandraSetting("concurrent_reads", "8")
            .withCassandraSetting("concurrent_writes", "8")
            // Nothing is committed: one member of the oracle disturbs least.
            .withIsoldeSetting("oracle_members", "[" + address(0) + "]")
            .withIsoldeSetting("staleness_sample_one_in", "1");
    if (options.profile().distances().isEmpty()) {
      return spec;
    }
    Path distances = write(folder.resolve("distances"), options.profile().distances());
    return spec.withClassesOf(StudyCluster.class)
        .withCassandraSetting("endpoint_snitch", DISTANT_SNITCH)
        .withSystemProperty(Distances.FILE_PROPERTY, distances.toString());
  }

  /** Of a node; the first has index 0. */
  private static String address(int index) {
    return "127.0.71." + (index + 1);
  }

  private static Path write(Path file, String text) {
    try {
      return Files.writeString(file, text).toAbsolutePath();
    } catch (IOException e) {
      throw new ToolException("The file %s can't be written.".formatted(file), e);
    }
  }

  CqlSession connect() {
    return NodeSessions.open(contactPoints, options.running().flatMap(Running::credentials));
  }

  /** The local nodes, for churn. */
  Optional<LocalCluster> local() {
    return local;
  }

  /**
   * Sets up one more local node, between the first two on the ring; when it is started it takes
   * over its part of the data.
   */
  LocalNode createJoining() {
    LocalCluster cluster = local.orElseThrow();
    NodeSpec first = cluster.node(1).spec();
    Path place = folder.resolve(NAME_OF_JOINING);
    LocalCluster.removeIfPresent(place);
    LocalCluster alone =
        LocalCluster.create(place, 1, spec(options, folder).withAddress(address(options.nodes())));
    joining = Optional.of(alone);
    LocalNode node = alone.node(1);
    place(node, options.nodes(), options, folder);
    long token = token(cluster.node(1)) / 2 + token(cluster.node(2)) / 2;
    node.reconfigure(
        spec ->
            spec.withCassandraSetting("seed_provider", setting(first, "seed_provider"))
                .withCassandraSetting("cluster_name", setting(first, "cluster_name"))
                .withCassandraSetting("initial_token", "\"%d\"".formatted(token))
                .withCassandraSetting("auto_bootstrap", "true")
                // Or it joins before it has heard of the schema, and takes over nothing.
                .withSystemProperty("cassandra.ring_delay_ms", RING_DELAY_MILLIS));
    return node;
  }

  private static long token(LocalNode node) {
    return Long.parseLong(setting(node.spec(), "initial_token").replace("\"", ""));
  }

  private static String setting(NodeSpec spec, String name) {
    return spec.cassandraSettings().get(name);
  }

  @Override
  public void close() {
    joining.ifPresent(LocalCluster::remove);
    local.ifPresent(LocalCluster::remove);
  }
}
