// SPDX-License-Identifier: Apache-2.0
package io.isolde.replicated;

import io.isolde.config.HeapBudget;
import io.isolde.config.IsoldeConfig;
import io.isolde.config.NodeClock;
import io.isolde.oracle.OracleConfig;
import io.isolde.oracle.group.CoordinatorSession;
import io.isolde.oracle.group.MemberChange;
import io.isolde.oracle.group.OracleClient;
import io.isolde.oracle.group.OracleClientConfig;
import io.isolde.oracle.group.OracleFiles;
import io.isolde.oracle.group.OracleGroupConfig;
import io.isolde.oracle.group.OracleNode;
import io.isolde.peers.NodePort;
import io.isolde.raft.Peer;
import io.isolde.raft.transport.PeerTransport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This node's part of the oracle's group, if it is a member, and its coordinator's access to it.
 */
public final class OracleHost implements NodePort, AutoCloseable {
  private static final Logger logger = LoggerFactory.getLogger(OracleHost.class);

  /** The name of the file that says that there was a log. */
  private static final String RECORD = "isolde-oracle-record";

  private final CassandraNode cassandra;
  private final OracleNode node;
  private final OracleClient client;
  private final CoordinatorSession session;

  private OracleHost(
      CassandraNode cassandra, OracleNode node, OracleClient client, CoordinatorSession session) {
    this.cassandra = cassandra;
    this.node = node;
    this.client = client;
    this.session = session;
  }

  /**
   * Starts the node's port, its member if it has one, and its coordinator's session; the latter two
   * in the background.
   *
   * @throws IOException if the port is taken
   */
  public static OracleHost start(IsoldeConfig config) throws IOException {
    CassandraNode cassandra = new CassandraNode(config.oracle());
    cassandra.quietRatis();
    List<Peer> initialMembers = cassandra.initialMembers();
    Path directory = cassandra.directory();
    logger.info(
        "The oracle's port is {}; the group is founded by {}; its log is in {}",
        cassandra.self().address(),
        initialMembers.stream().map(Peer::id).toList(),
        directory);
    OracleGroupConfig group = group(config);
    OracleNode node =
        OracleNode.start(
            group,
            cassandra.clusterName(),
            cassandra.self(),
            initialMembers,
            new OracleFiles(directory, cassandra.dataDirectory().resolve(RECORD)),
            transport -> transport.security(cassandra.security()).accept(cassandra.ofThisCluster()),
            NodeClock.INSTANCE);
    OracleClient client =
        new OracleClient(
            OracleClientConfig.defaults().withTimeoutMillis(config.oracle().timeoutMillis()),
            node.transport()::connect,
            initialMembers.stream().map(Peer::address).toList());
    client.alsoAsk(cassandra::livePorts);
    client.beginHere(node::begin);
    node.referTo(client::members);
    node.askWhenVisible(client::awaitStable);
    return new OracleHost(
        cassandra,
        node,
        client,
        new CoordinatorSession(client, cassandra.hostId(), group.leaseMillis()));
  }

  private static OracleGroupConfig group(IsoldeConfig config) {
    OracleGroupConfig defaults = OracleGroupConfig.defaults();
    HeapBudget heap = HeapBudget.ofThisNode();
    return defaults
        .withBounds(bounds(config))
        .withRaft(
            defaults
                .raft()
                .withFsync(config.oracle().isLogSynced())
                .withinMemory(heap.waitingBytes(), heap.logFileBytes()))
        .withLeaseMillis(config.oracle().coordinatorLeaseMillis())
        .withReservationMicros(config.oracle().timestampReservationMicros())
        .withinMemory(heap.decidedBytes());
  }

  private static OracleConfig bounds(IsoldeConfig config) {
    return new OracleConfig(
        config.oracle().maxRows(),
        config.oracle().maxPendingCommits(),
        config.oracle().maxOutcomes(),
        config.oracle().outcomeRetentionMicros(),
        config.versions().retentionMicros());
  }

  /** Has the leader change the members, or hand over to one; returns when it is done. */
  public CompletableFuture<Void> change(MemberChange.Kind change, String address) {
    return client.change(new MemberChange(change, cassandra.peer(address)));
  }

  @Override
  public PeerTransport transport() {
    return node.transport();
  }

  /** By this the group knows it, too. */
  @Override
  public String address() {
    return cassandra.self().id();
  }

  @Override
  public InetSocketAddress addressOf(String address) {
    return cassandra.peer(address).address();
  }

  public OracleNode node() {
    return node;
  }

  public OracleClient client() {
    return client;
  }

  public CoordinatorSession session() {
    return session;
  }

  @Override
  public void close() {
    session.close();
    client.close();
    node.close();
  }
}
