// SPDX-License-Identifier: Apache-2.0
package io.isolde.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.apache.cassandra.config.CassandraRelevantProperties;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.UntypedResultSet;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.service.CassandraDaemon;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.transport.Dispatcher;

/**
 * Cassandra in the process of the test, once, for tests that look at a replica from within: they
 * flush and compact at will, and write with timestamps of their own.
 */
public final class CassandraInProcess {
  public static final String KEYSPACE = "test";

  private static final String YAML =
      """
      cluster_name: in-process
      partitioner: org.apache.cassandra.dht.Murmur3Partitioner
      num_tokens: 1
      initial_token: 0
      auto_bootstrap: false
      auto_snapshot: false
      commitlog_sync: periodic
      commitlog_sync_period: 10s
      listen_address: 127.0.0.77
      rpc_address: 127.0.0.77
      start_native_transport: false
      endpoint_snitch: SimpleSnitch
      materialized_views_enabled: true
      memtable:
        configurations:
          default: {class_name: SkipListMemtable}
          trie: {class_name: TrieMemtable}
      seed_provider: [{class_name: org.apache.cassandra.locator.SimpleSeedProvider, parameters: [{seeds: "127.0.0.77"}]}]
      """;

  private static boolean started;

  private CassandraInProcess() {}

  /** Starts it if it does not run yet. It ends with the process. */
  public static synchronized void start() {
    if (started) {
      return;
    }
    try {
      Path folder = Path.of(System.getProperty("isolde.test.dir"), "node");
      delete(folder);
      Files.createDirectories(folder);
      Path yaml = Files.writeString(folder.resolve("cassandra.yaml"), YAML);
      System.setProperty("cassandra.config", yaml.toUri().toString());
      System.setProperty("cassandra.storagedir", folder.toString());
      System.setProperty("cassandra-foreground", "yes");
      System.setProperty("cassandra.skip_wait_for_gossip_to_settle", "0");
      System.setProperty("cassandra.ring_delay_ms", "100");
      DatabaseDescriptor.daemonInitialization();
      // Set by Isolde, of which no more is to run here than a replica needs.
      CassandraRelevantProperties.CUSTOM_QUERY_HANDLER_CLASS.clearValue();
      new CassandraDaemon(true).activate();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    started = true;
    execute(
        "CREATE KEYSPACE "
            + KEYSPACE
            + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  }

  private static void delete(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  public static UntypedResultSet execute(String cql) {
    return QueryProcessor.executeOnceInternal(cql);
  }

  /** Executes with its own idea of now, in seconds: for what expires. */
  public static UntypedResultSet executeAt(long nowInSeconds, String cql) {
    return QueryProcessor.executeInternalWithNowInSec(cql, nowInSeconds);
  }

  /** Executes as Cassandra alone would for a client. */
  public static void executeAsAClient(String cql) {
    ClientState client =
        ClientState.forExternalCalls(new InetSocketAddress(InetAddress.getLoopbackAddress(), 9));
    var unused =
        QueryProcessor.process(
            cql,
            ConsistencyLevel.ONE,
            new QueryState(client),
            Dispatcher.RequestTime.forImmediateExecution());
  }

  public static ColumnFamilyStore table(String name) {
    return Keyspace.open(KEYSPACE).getColumnFamilyStore(name);
  }

  public static void flush(String table) {
    table(table).forceBlockingFlush(ColumnFamilyStore.FlushReason.UNIT_TESTS);
  }

  public static void compact(String table) {
    table(table).forceMajorCompaction();
  }
}
