// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.mail;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.bench.kit.Processes;
import io.isolde.bench.kit.Run;
import io.isolde.bench.nodes.StockAndIsolde;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.mail.MailConsistency;
import io.isolde.mail.store.cql.MailboxStore;

/** The kinds of mailboxes that are compared, as names of cases have them. */
enum MailKind {
  STRONG("strong", MailConsistency.STRONG, true),
  QUORUM("quorum", MailConsistency.QUORUM, false),
  SERIAL("serial", MailConsistency.SERIAL, false),
  TRANSACTIONAL("transactional", MailConsistency.TRANSACTIONAL, true);

  private static final int MAX_HEAP_MEGABYTES = 1024;

  private final String text;
  private final MailConsistency consistency;
  private final boolean isIsolde;

  MailKind(String text, MailConsistency consistency, boolean isIsolde) {
    this.text = text;
    this.consistency = consistency;
    this.isIsolde = isIsolde;
  }

  String text() {
    return text;
  }

  MailConsistency consistency() {
    return consistency;
  }

  /** Whether it needs the plugin; the others are on stock Cassandra. */
  boolean isIsolde() {
    return isIsolde;
  }

  /** Starts so many nodes of each cluster, whose lightweight transactions are the faster ones. */
  static StockAndIsolde start(int nodes, Run run) {
    NodeSpec spec =
        TemporaryNode.spec(run.options().withHeapUpTo(MAX_HEAP_MEGABYTES))
            .withCassandraSetting("paxos_variant", "v2");
    return StockAndIsolde.start(nodes, spec, run);
  }

  TemporaryNode in(StockAndIsolde clusters) {
    return isIsolde ? clusters.isolde() : clusters.stock();
  }

  /** The nodes that serve this kind. */
  Processes processes(StockAndIsolde clusters) {
    return Processes.ofNodes(in(clusters).tools());
  }

  /**
   * Creates a keyspace with a replica of all rows on each node. A strong one answers when a write
   * is in the memory of a majority, as Cassandra does.
   */
  void createKeyspace(String keyspace, TemporaryNode cluster) {
    if (consistency == MailConsistency.STRONG) {
      cluster.createKeyspace(
          keyspace, "'class': 'ReplicatedLogStrategy', 'durability': 'periodic'");
    } else {
      cluster.createKeyspace(keyspace);
    }
  }

  /** Opens the mailboxes of a keyspace, without a mail server. */
  MailboxStore open(CqlSession session, String keyspace) {
    return switch (consistency) {
      case STRONG -> MailboxStore.strong(session, keyspace);
      case QUORUM -> MailboxStore.quorum(session, keyspace);
      case SERIAL -> MailboxStore.serial(session, keyspace);
      case TRANSACTIONAL -> MailboxStore.transactional(session, keyspace);
    };
  }
}
