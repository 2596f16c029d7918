// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import com.google.common.util.concurrent.Uninterruptibles;
import io.isolde.group.Layout;
import io.isolde.group.Rebalancing;
import io.isolde.peers.WorkLease;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.apache.cassandra.gms.Gossiper;
import org.apache.cassandra.schema.KeyspaceMetadata;
import org.apache.cassandra.schema.KeyspaceParams;
import org.apache.cassandra.schema.Keyspaces;
import org.apache.cassandra.schema.ReplicationParams;
import org.apache.cassandra.schema.Schema;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes into the schema where replicas are, so that all nodes know whom to ask. */
final class LayoutNotes {
  private static final Logger logger = LoggerFactory.getLogger(LayoutNotes.class);
  private static final long AGREEMENT_MILLIS = 10_000;
  private static final long PAUSE_MILLIS = 50;

  private LayoutNotes() {}

  /**
   * Has the layout say what has changed; waits for a while until all nodes that are up know it,
   * since one that changes the schema without knowing it would undo it.
   *
   * @param lease keeps other nodes from changing the layout meanwhile
   * @throws IOException if they don't agree on the schema before
   */
  static void write(StrongKeyspace keyspace, Rebalancing.Change change, WorkLease lease)
      throws IOException {
    write(keyspace, lease, options -> noted(options, change));
  }

  /** The same for what the keyspace is to have; its layout stays as it is. */
  static void want(StrongKeyspace keyspace, Map<String, String> wanted, WorkLease lease)
      throws IOException {
    write(
        keyspace,
        lease,
        options -> {
          Map<String, String> all = new HashMap<>(wanted);
          all.put(KeyspaceOptions.LAYOUT, options.get(KeyspaceOptions.LAYOUT));
          all.put(KeyspaceOptions.INCARNATION, options.get(KeyspaceOptions.INCARNATION));
          return all;
        });
  }

  private static void write(
      StrongKeyspace keyspace, WorkLease lease, UnaryOperator<Map<String, String>> change)
      throws IOException {
    if (!awaitAgreement()) {
      throw new IOException("The nodes that are up do not agree on the schema.");
    }
    lease.renew();
    var unused = Schema.instance.transform(schema -> changed(schema, keyspace, change));
    if (!awaitAgreement()) {
      logger.warn("Not all nodes know yet what has changed in {}", keyspace.name());
    }
  }

  private static boolean awaitAgreement() {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(AGREEMENT_MILLIS);
    while (!agrees() && System.nanoTime() < end) {
      Uninterruptibles.sleepUninterruptibly(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    }
    return agrees();
  }

  private static boolean agrees() {
    var here = Schema.instance.getVersion();
    return Gossiper.instance.getLiveTokenOwners().stream()
        .allMatch(node -> here.equals(Gossiper.instance.getSchemaVersion(node)));
  }

  /** Not if the keyspace was dropped meanwhile, and perhaps made again. */
  private static Keyspaces changed(
      Keyspaces schema, StrongKeyspace known, UnaryOperator<Map<String, String>> change) {
    KeyspaceMetadata keyspace = schema.getNullable(known.name());
    if (keyspace == null || keyspace.params.replication.klass != ReplicatedLogStrategy.class) {
      return schema;
    }
    Map<String, String> options = keyspace.params.replication.asMap();
    if (!known
        .options()
        .incarnation()
        .toString()
        .equals(options.get(KeyspaceOptions.INCARNATION))) {
      return schema;
    }
    Map<String, String> changed = change.apply(options);
    return changed.equals(options)
        ? schema
        : schema.withAddedOrUpdated(
            keyspace.withSwapped(
                new KeyspaceParams(
                    keyspace.params.durableWrites, ReplicationParams.fromMap(changed))));
  }

  /** Somebody else may have done the same. */
  private static Map<String, String> noted(Map<String, String> options, Rebalancing.Change change) {
    Map<String, String> noted = new HashMap<>(options);
    noted.computeIfPresent(
        KeyspaceOptions.LAYOUT, (name, text) -> change.applyTo(Layout.parse(text)).toString());
    return noted;
  }
}
