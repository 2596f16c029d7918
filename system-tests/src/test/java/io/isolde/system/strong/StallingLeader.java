// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.strong;

import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.system.Await;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/** A node that leads has hardly any memory for memtables, and somebody fills it. */
final class StallingLeader {
  private static final int VALUE_BYTES = 1 << 20;
  private static final int IN_FLIGHT = 32;

  /** Some of them are the node's own. */
  private static final int KEYS = 20;

  private static final int WRITES = 200;

  private StallingLeader() {}

  /** Checks that node 1 hands over what it leads of a strong keyspace. */
  static void check(StrongCluster nodes, String strongKeyspace) {
    nodes.cluster.node(1).kill();
    nodes
        .cluster
        .node(1)
        .reconfigure(
            spec ->
                spec.withCassandraSetting("memtable_heap_space", "16MiB")
                    // It flushes late, so that writers come to wait for it.
                    .withCassandraSetting("memtable_cleanup_threshold", "0.9"));
    nodes.restart(1);
    nodes.execute(
        "CREATE KEYSPACE crowded WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 1}");
    nodes.execute("CREATE TABLE crowded.t (k int PRIMARY KEY, v blob)");
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    String address = nodes.cluster.node(1).spec().address();
    Await.until(
        "node 1 leads",
        () ->
            nodes
                .execute("ALTER KEYSPACE %s LEADER '%s'".formatted(strongKeyspace, address))
                .wasApplied());
    Await.until(
        "it has stepped aside",
        () -> {
          write(nodes);
          return hasSteppedAside(nodes, strongKeyspace);
        });
  }

  /** As fast as it goes; who gets no answer in time is one of those who wait for a flush. */
  private static void write(StrongCluster nodes) {
    byte[] value = new byte[VALUE_BYTES];
    new Random(5).nextBytes(value);
    Deque<CompletionStage<AsyncResultSet>> sent = new ArrayDeque<>();
    for (int i = 0; i < WRITES || !sent.isEmpty(); i++) {
      if (i < WRITES) {
        sent.add(
            nodes.session.executeAsync(
                SimpleStatement.newInstance(
                        "INSERT INTO crowded.t (k, v) VALUES (?, ?)",
                        i % KEYS,
                        ByteBuffer.wrap(value))
                    .setNode(nodes.driverNode(1))));
      }
      if (sent.size() == IN_FLIGHT || i >= WRITES) {
        try {
          sent.remove().toCompletableFuture().join();
        } catch (CompletionException | DriverException timeOut) {
          // The pressure is what counts.
        }
      }
    }
  }

  private static boolean hasSteppedAside(StrongCluster nodes, String keyspace) {
    for (Row event : nodes.on(1, "SELECT * FROM isolde.leadership_events")) {
      if (event.getString("cause").equals("FLUSHES")
          && event.getString("keyspace_name").equals(keyspace)
          && event.getString("decision").equals("HAND_OVER")
          && !event.getBoolean("failed")) {
        return true;
      }
    }
    return false;
  }
}
