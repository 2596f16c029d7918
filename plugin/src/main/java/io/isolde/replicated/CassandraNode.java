// SPDX-License-Identifier: Apache-2.0
package io.isolde.replicated;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.isolde.config.IsoldeConfig;
import io.isolde.config.OracleSettings;
import io.isolde.raft.Peer;
import io.isolde.raft.transport.TransportSecurity;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.config.EncryptionOptions;
import org.apache.cassandra.db.SystemKeyspace;
import org.apache.cassandra.gms.Gossiper;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.security.ISslContextFactory;
import org.apache.cassandra.security.SSLFactory;
import org.apache.cassandra.utils.FBUtilities;
import org.slf4j.LoggerFactory;

/** What Raft groups take from the Cassandra node that they run in. */
public final class CassandraNode {
  private static final int MAX_INITIAL_MEMBERS = 5;

  private final OracleSettings settings;

  public CassandraNode(OracleSettings settings) {
    this.settings = settings;
  }

  /** It logs pages at each start. Whoever sets its level in logback.xml, gets that. */
  public void quietRatis() {
    if (LoggerFactory.getLogger("org.apache.ratis") instanceof Logger ratis
        && ratis.getLevel() == null) {
      ratis.setLevel(Level.WARN);
    }
  }

  String clusterName() {
    return DatabaseDescriptor.getClusterName();
  }

  /** Stays the same for as long as the node keeps its data. */
  public UUID hostId() {
    return SystemKeyspace.getOrInitializeLocalHostId();
  }

  /** This node, by the address that it has in the cluster, where its port listens. */
  Peer self() {
    InetAddress listen = FBUtilities.getJustLocalAddress();
    String id = FBUtilities.getBroadcastAddressAndPort().getHostAddress(false);
    return new Peer(id, new InetSocketAddress(listen, settings.port()));
  }

  /** This node as a member of replica groups: by an id that goes with its data. */
  public Peer member(int port) {
    return new Peer(
        hostId().toString(), new InetSocketAddress(self().address().getAddress(), port));
  }

  /** A node by its address. */
  Peer peer(String address) {
    try {
      InetAddress host = InetAddress.getByName(address);
      return new Peer(host.getHostAddress(), new InetSocketAddress(host, settings.port()));
    } catch (UnknownHostException e) {
      throw new IsoldeConfig.ConfigurationException(
          "oracle_members names " + address + ", which is not an address.");
    }
  }

  /**
   * The members that found the group: those in the setting, or else the seeds; an odd number, as an
   * even one survives no more failures.
   */
  List<Peer> initialMembers() {
    List<String> addresses = new ArrayList<>(settings.members());
    if (addresses.isEmpty()) {
      Collection<InetAddressAndPort> seeds = DatabaseDescriptor.getSeeds();
      seeds.forEach(seed -> addresses.add(seed.getHostAddress(false)));
    }
    List<Peer> peers =
        addresses.stream().map(this::peer).sorted(Comparator.comparing(Peer::id)).toList();
    int odd =
        Math.min(peers.size() % 2 == 0 ? peers.size() - 1 : peers.size(), MAX_INITIAL_MEMBERS);
    return peers.subList(0, Math.max(odd, 0));
  }

  /** The ports of the nodes that are up, as far as this one knows, in no order. */
  List<InetSocketAddress> livePorts() {
    List<InetSocketAddress> ports = new ArrayList<>();
    for (InetAddressAndPort node : Gossiper.instance.getLiveMembers()) {
      ports.add(new InetSocketAddress(node.getAddress(), settings.port()));
    }
    Collections.shuffle(ports); // Of many, not all nodes ask the same few.
    return ports;
  }

  /** By default beside the commit log: on a durable disk that is this node's own. */
  Path directory() {
    return directory(settings.directory());
  }

  /** The same for another log. */
  public Path directory(String name) {
    return Path.of(DatabaseDescriptor.getCommitLogLocation()).toAbsolutePath().resolveSibling(name);
  }

  /** The first of those with SSTables. */
  public Path dataDirectory() {
    return Path.of(DatabaseDescriptor.getAllDataFileLocations()[0]).toAbsolutePath();
  }

  /**
   * Whether an address is a node's of this cluster. It is asked on event loops, for each connection
   * that comes in, so what takes long is done here: the seeds come from a parse of cassandra.yaml,
   * and perhaps a look-up of names.
   */
  public Predicate<InetSocketAddress> ofThisCluster() {
    Set<InetAddress> known = new HashSet<>();
    initialMembers().forEach(initialMember -> known.add(initialMember.address().getAddress()));
    known.add(FBUtilities.getJustLocalAddress());
    return remote -> known.contains(remote.getAddress()) || isInGossip(remote.getAddress());
  }

  private static boolean isInGossip(InetAddress address) {
    return Gossiper.instance.getEndpoints().stream()
        .anyMatch(endpoint -> endpoint.getAddress().equals(address));
  }

  /** As the cluster's own messages: encrypted if any of those are. */
  public TransportSecurity security() {
    EncryptionOptions.ServerEncryptionOptions options =
        DatabaseDescriptor.getInternodeMessagingEncyptionOptions();
    if (options.internode_encryption
        == EncryptionOptions.ServerEncryptionOptions.InternodeEncryption.none) {
      return TransportSecurity.none();
    }
    return new TransportSecurity(
        () -> Optional.of(context(options, ISslContextFactory.SocketType.SERVER)),
        () -> Optional.of(context(options, ISslContextFactory.SocketType.CLIENT)));
  }

  /** Cassandra caches the contexts, and replaces them when the certificates change. */
  private static SslContext context(
      EncryptionOptions options, ISslContextFactory.SocketType socketType) {
    try {
      return SSLFactory.getOrCreateSslContext(
          options, options.require_client_auth, socketType, "the oracle of Isolde");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
