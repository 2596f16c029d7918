// SPDX-License-Identifier: Apache-2.0
package io.isolde.junit;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import io.isolde.cluster.ClusterException;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A node, or the reason why there is none: a node that can't be started once is not tried again for
 * every class, which would take minutes each.
 */
@SuppressWarnings("deprecation") // AutoCloseable would need JUnit 5.13
final class TestNode implements ExtensionContext.Store.CloseableResource {

  /** Where nodes put their data and logs; by default, Maven's folder for such. */
  static final String DIRECTORY_PROPERTY = "isolde.junit.directory";

  /** The address of the first node, where the default does not exist, as on macOS. */
  static final String ADDRESS_PROPERTY = "isolde.junit.address";

  /** Drivers read the schema once for all changes within 1 s, and each change waits for that. */
  private static final Duration SCHEMA_WINDOW = Duration.ofMillis(10);

  /** A session that is closed has nothing under way, so there is little to wait for. */
  private static final int CLOSE_MILLIS = 100;

  private static final int MAX_CLOSE_MILLIS = 15_000;

  /** Drivers wait for 2 s by default, which a busy test machine can take for a schema change. */
  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(20);

  private static final AtomicInteger numbers = new AtomicInteger();
  private static final AtomicInteger keyspaces = new AtomicInteger();

  private final LocalCluster cluster;
  private final ClusterException failure;

  private TestNode(LocalCluster cluster, ClusterException failure) {
    this.cluster = cluster;
    this.failure = failure;
  }

  /**
   * Starts a node.
   *
   * @param settings of isolde.yaml, each {@code name: value}
   */
  static TestNode start(List<String> settings) {
    return start(settings, spec -> spec);
  }

  /**
   * Starts one that many classes use, so that none may kill it. It writes changes of the schema to
   * disk only when it stops, which makes them two to three times as fast.
   */
  static TestNode startShared() {
    return start(
        List.of(),
        spec -> spec.withSystemProperty("cassandra.test.flush_local_schema_changes", "false"));
  }

  private static TestNode start(List<String> settings, UnaryOperator<NodeSpec> change) {
    int number = numbers.getAndIncrement();
    long pid = ProcessHandle.current().pid();
    Path folder =
        Path.of(System.getProperty(DIRECTORY_PROPERTY, "target/isolde-junit"))
            .resolve("%d-%d".formatted(pid, number));
    try {
      LocalCluster.removeIfPresent(folder); // of a process that had the same id
      LocalCluster cluster =
          LocalCluster.create(folder, 1, change.apply(spec(settings, pid, number)));
      cluster.start();
      return new TestNode(cluster, null);
    } catch (ClusterException e) {
      return new TestNode(null, e);
    }
  }

  private static NodeSpec spec(List<String> settings, long pid, int number) {
    NodeSpec spec =
        NodeSpec.standard()
            .withAddress(System.getProperty(ADDRESS_PROPERTY, address(pid, number)))
            .withEphemeral(true)
            .withJvmOption("-XX:TieredStopAtLevel=1") // starts sooner
            .withJvmOption("-XX:-UseG1GC")
            .withJvmOption("-XX:+UseSerialGC") // needs no threads while nothing happens
            .withSystemProperty(
                "cassandra.approximate_time_precision_ms", "10"); // wakes less often
    for (String setting : settings) {
      String[] parts = setting.split(":", 2);
      if (parts.length < 2) {
        throw new IllegalArgumentException(
            "The setting \"%s\" is not of the form \"name: value\".".formatted(setting));
      }
      spec = spec.withIsoldeSetting(parts[0].strip(), parts[1].strip());
    }
    return spec;
  }

  /** A loopback address of its own, so that processes that test at the same time do not meet. */
  static String address(long pid, int number) {
    return "127.%d.%d.%d".formatted(64 + number % 128, pid / 254 % 256, 1 + pid % 254);
  }

  /** Returns the process of the node. */
  LocalNode process() {
    if (failure != null) {
      throw new NoNodeException(failure);
    }
    return cluster.node(1);
  }

  /** Opens a session with a fresh keyspace. */
  CqlSession connect() {
    CqlSession session =
        CqlSession.builder()
            .addContactPoint(process().contactPoint())
            .withLocalDatacenter("datacenter1")
            .withConfigLoader(
                DriverConfigLoader.programmaticBuilder()
                    .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, REQUEST_TIMEOUT)
                    .withDuration(DefaultDriverOption.METADATA_SCHEMA_WINDOW, SCHEMA_WINDOW)
                    .withDuration(
                        DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, REQUEST_TIMEOUT)
                    .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, REQUEST_TIMEOUT)
                    .withString(DefaultDriverOption.NETTY_IO_SHUTDOWN_UNIT, "MILLISECONDS")
                    .withInt(DefaultDriverOption.NETTY_IO_SHUTDOWN_QUIET_PERIOD, CLOSE_MILLIS)
                    .withInt(DefaultDriverOption.NETTY_IO_SHUTDOWN_TIMEOUT, MAX_CLOSE_MILLIS)
                    .withString(DefaultDriverOption.NETTY_ADMIN_SHUTDOWN_UNIT, "MILLISECONDS")
                    .withInt(DefaultDriverOption.NETTY_ADMIN_SHUTDOWN_QUIET_PERIOD, CLOSE_MILLIS)
                    .withInt(DefaultDriverOption.NETTY_ADMIN_SHUTDOWN_TIMEOUT, MAX_CLOSE_MILLIS)
                    .build())
            .build();
    String keyspace = "test%d".formatted(keyspaces.incrementAndGet());
    session.execute(
        "CREATE KEYSPACE %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
            .formatted(keyspace));
    session.execute("USE " + keyspace);
    return session;
  }

  /** Kills the node. Its files go too; those of a node that did not start stay for a look. */
  @Override
  public void close() {
    if (cluster != null) {
      cluster.remove();
    }
  }
}
