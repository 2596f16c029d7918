// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.client.IsoldeSessionBuilder;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.Network;
import io.isolde.cluster.NodeSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** The cluster that suffers, and a session with it. Gone when it is closed. */
final class TortureCluster implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  private static final String FIRST_OF_LOOPBACK = "127.0.64.1";

  private final LocalCluster cluster;
  private final CqlSession session;

  private TortureCluster(LocalCluster cluster, CqlSession session) {
    this.cluster = cluster;
    this.session = session;
  }

  static TortureCluster start(Path folder, TortureOptions options, Consumer<String> progress) {
    LocalCluster.removeIfPresent(folder);
    LocalCluster cluster = LocalCluster.create(folder, options.nodes(), spec(options));
    ClockSkew.prepare(cluster);
    if (options.needsNetwork()) {
      Network.assign(cluster);
    }
    try {
      cluster.start(progress);
      return new TortureCluster(cluster, connect(cluster));
    } catch (RuntimeException e) {
      cluster.kill();
      throw e;
    }
  }

  private static NodeSpec spec(TortureOptions options) {
    if (options.needsNetwork()) {
      Network.create(options.nodes());
    }
    NodeSpec spec =
        NodeSpec.standard()
            .withAddress(options.needsNetwork() ? Network.address(1) : FIRST_OF_LOOPBACK)
            .withHeapMegabytes(options.heapMegabytes())
            .withEphemeral(true);
    return options.commitLogSync().of(ClockSkew.allowedBy(spec));
  }

  private static CqlSession connect(LocalCluster cluster) {
    return new IsoldeSessionBuilder()
        .addContactPoints(cluster.contactPoints())
        .withLocalDatacenter("datacenter1")
        .withConfigLoader(
            DriverConfigLoader.programmaticBuilder()
                .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(6))
                .withDuration(
                    DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, Duration.ofSeconds(20))
                .withDuration(DefaultDriverOption.RECONNECTION_BASE_DELAY, Duration.ofMillis(200))
                .withDuration(DefaultDriverOption.RECONNECTION_MAX_DELAY, Duration.ofSeconds(2))
                .build())
        .build();
  }

  /** Statements of which each may need the one before, which other nodes may not know of yet. */
  void define(List<String> statements) {
    Node node = session.getMetadata().getNodes().values().iterator().next();
    for (String statement : statements) {
      session.execute(SimpleStatement.newInstance(statement).setNode(node).setTimeout(PATIENCE));
    }
    cluster.awaitSchemaAgreement(PATIENCE);
  }

  LocalCluster nodes() {
    return cluster;
  }

  CqlSession session() {
    return session;
  }

  @Override
  public void close() {
    session.close();
    cluster.kill();
  }
}
