// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import com.google.common.util.concurrent.Uninterruptibles;
import io.isolde.group.Layout;
import io.isolde.group.Rebalancing;
import io.isolde.peers.WorkLease;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
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
   * Has the layout say that a replica has moved; waits for a while until all nodes that are up know
   * it, since one that changes the schema without knowing it would undo it.
   *
   * @param lease keeps other nodes from changing the layout meanwhile
   * @throws IOException if they don't agree on the schema before
   */
  static void write(StrongKeyspace keyspace, Rebalancing.Move move, WorkLease lease)
      throws IOException {
    if (!awaitAgreement()) {
      throw new IOException("The nodes that are up do not agree on the schema.");
    }
    lease.renew();
    var unused = Schema.instance.transform(schema -> moved(schema, keyspace, move));
    if (!awaitAgreement()) {
      logger.warn("Not all nodes know yet that {} of {}", move, keyspace.name());
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

  /** Somebody else may have changed the layout meanwhile, or done the same. */
  private static Keyspaces moved(Keyspaces schema, StrongKeyspace known, Rebalancing.Move move) {
    KeyspaceMetadata keyspace = schema.getNullable(known.name());
    if (keyspace == null || keyspace.params.replication.klass != ReplicatedLogStrategy.class) {
      return schema;
    }
    Map<String, String> options = new HashMap<>(keyspace.params.replication.asMap());
    Layout layout = Layout.parse(options.get(KeyspaceOptions.LAYOUT));
    List<Layout.Member> members = layout.groups().get(move.group()).members();
    boolean isSame =
        known.options().incarnation().toString().equals(options.get(KeyspaceOptions.INCARNATION));
    if (!isSame || !members.contains(move.from()) || members.contains(move.to())) {
      return schema;
    }
    options.put(
        KeyspaceOptions.LAYOUT,
        layout.withReplaced(move.group(), move.from(), move.to()).toString());
    return schema.withAddedOrUpdated(
        keyspace.withSwapped(
            new KeyspaceParams(keyspace.params.durableWrites, ReplicationParams.fromMap(options))));
  }
}
