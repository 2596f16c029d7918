// SPDX-License-Identifier: Apache-2.0
package io.isolde.system;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.config.ProgrammaticDriverConfigLoaderBuilder;
import io.isolde.client.Isolde;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeTool;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/**
 * A real node with the plugin, and its clients. Most tests use the {@link #shared} one, in tables
 * of their own.
 */
public final class SystemNode implements AutoCloseable {

  /** Where every table is made that a test does not want elsewhere. */
  public static final String KEYSPACE = "systests";

  private static final class Shared {
    static final SystemNode NODE =
        start("shared", TestFork.sharedAddress(), SystemNode::neverKilled);

    static {
      // The node is ephemeral, so it ends with this process, however that ends.
      NODE.useKeyspace();
      NODE.warmUp();
    }
  }

  private static final AtomicInteger names = new AtomicInteger();

  private final LocalCluster cluster;
  private CqlSession session;

  private SystemNode(LocalCluster cluster) {
    this.cluster = cluster;
  }

  /** Returns the node that the test classes share, which runs with the defaults. */
  public static SystemNode shared() {
    return Shared.NODE;
  }

  /** Changes of the schema go to disk only when it stops, which makes them faster. */
  private static NodeSpec neverKilled(NodeSpec spec) {
    return spec.withSystemProperty("cassandra.test.flush_local_schema_changes", "false");
  }

  /**
   * What classes do while they are loaded gets no second chance, and on a busy machine a node that
   * has just started may take too long for it.
   */
  private void warmUp() {
    String table = plainTable("id int PRIMARY KEY, v int");
    String index = "CREATE UNIQUE INDEX IF NOT EXISTS ON %s (v)".formatted(table);
    Await.until(
        "the node makes tables transactional and indexes unique",
        () -> {
          try {
            session().execute("ENABLE TRANSACTIONS ON " + table);
            session().execute(index);
            return true;
          } catch (DriverException e) {
            System.err.println("The shared node is not ready yet: " + e);
            return false;
          }
        });
    session().execute("DROP TABLE " + table);
  }

  /** Starts a fresh node; with authentication, connect before anything else is asked for. */
  public static SystemNode start(String name, String address, UnaryOperator<NodeSpec> settings) {
    SystemNode node = create(name, address, settings);
    node.cluster.start();
    return node;
  }

  /** Makes a fresh node without starting it. */
  public static SystemNode create(String name, String address, UnaryOperator<NodeSpec> settings) {
    Path folder = TestFork.clusters().resolve(name);
    LocalCluster.removeIfPresent(folder);
    NodeSpec spec = ShortLived.nodeAt(address);
    return new SystemNode(LocalCluster.create(folder, 1, settings.apply(spec)));
  }

  /** Returns the process. */
  public LocalNode process() {
    return cluster.node(1);
  }

  /** Returns the management interface. */
  public NodeTool tool() {
    return process().nodeTool();
  }

  /** Makes the keyspace of the tests. */
  public void useKeyspace() {
    session()
        .execute(
            "CREATE KEYSPACE IF NOT EXISTS %s WITH replication = ".formatted(KEYSPACE)
                + "{'class': 'SimpleStrategy', 'replication_factor': 1}");
  }

  /** Returns a session that all tests on this node share. */
  public synchronized CqlSession session() {
    if (session == null) {
      session = connect();
    }
    return session;
  }

  /** Returns transactions over the shared session. */
  public Isolde isolde() {
    return Isolde.on(session());
  }

  /** Opens a session of the caller's own, with one connection. */
  public CqlSession connect() {
    return connect(config -> config, builder -> builder);
  }

  /** As {@link #connect()}, for transactions that are bound to the connection. */
  public CqlSession connectSerially() {
    return connect(config -> config, builder -> builder.withApplicationName("isolde-serial"));
  }

  /** As {@link #connect()}, with settings of the driver. */
  public CqlSession connect(
      UnaryOperator<ProgrammaticDriverConfigLoaderBuilder> settings,
      UnaryOperator<CqlSessionBuilder> access) {
    ProgrammaticDriverConfigLoaderBuilder config =
        DriverConfigLoader.programmaticBuilder()
            .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(40))
            .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, Duration.ofSeconds(20))
            .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, Duration.ofSeconds(20))
            .withDuration(DefaultDriverOption.HEARTBEAT_TIMEOUT, Duration.ofSeconds(30))
            .withDuration(DefaultDriverOption.RECONNECTION_BASE_DELAY, Duration.ofMillis(200))
            .withDuration(DefaultDriverOption.RECONNECTION_MAX_DELAY, Duration.ofSeconds(1))
            .withInt(DefaultDriverOption.CONNECTION_POOL_LOCAL_SIZE, 1)
            .withBoolean(DefaultDriverOption.METADATA_SCHEMA_ENABLED, false)
            .withBoolean(DefaultDriverOption.PREPARE_ON_ALL_NODES, false);
    return access
        .apply(
            CqlSession.builder()
                .addContactPoint(process().contactPoint())
                .withLocalDatacenter("datacenter1")
                .withConfigLoader(settings.apply(config).build()))
        .build();
  }

  /** Drops the shared session, which would otherwise remember a node that is gone. */
  public synchronized void disconnect() {
    if (session != null) {
      session.close();
      session = null;
    }
  }

  /** Returns a name that no other test uses, for a table, a type or a keyspace. */
  public static String freshName(String kind) {
    return kind + names.incrementAndGet();
  }

  /** Makes a table; the columns are all that stands between the parentheses. */
  public String plainTable(String columns) {
    return plainTable(columns, "");
  }

  /** Makes a table with options, such as {@code WITH gc_grace_seconds = 0}. */
  public String plainTable(String columns, String options) {
    String table = KEYSPACE + "." + freshName("t");
    session().execute("CREATE TABLE %s (%s) %s".formatted(table, columns, options));
    return table;
  }

  /** Makes a transactional table. */
  public String table(String columns) {
    return table(columns, "");
  }

  /** Makes a transactional table with options. */
  public String table(String columns, String options) {
    String table = plainTable(columns, options);
    session().execute("ENABLE TRANSACTIONS ON " + table);
    return table;
  }

  /** Writes the memtable of a table to disk. */
  public void flush(String table) {
    try (NodeTool tool = tool()) {
      tool.flush(KEYSPACE, bare(table));
    }
  }

  /** Flushes a table and compacts it into one SSTable. */
  public void flushAndCompact(String table) {
    try (NodeTool tool = tool()) {
      tool.flush(KEYSPACE, bare(table));
      tool.compact(KEYSPACE, bare(table));
    }
  }

  private static String bare(String table) {
    return table.substring(table.indexOf('.') + 1);
  }

  /** Kills the node and removes its folder. */
  @Override
  public void close() {
    disconnect();
    cluster.remove();
  }
}
