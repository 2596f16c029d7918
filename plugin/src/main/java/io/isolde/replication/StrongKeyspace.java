// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.group.GroupClient;
import io.isolde.group.Layout;
import io.isolde.raft.Peer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.apache.cassandra.dht.Murmur3Partitioner.LongToken;
import org.apache.cassandra.dht.Token;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.schema.KeyspaceMetadata;
import org.apache.cassandra.schema.Schema;

/** A strong keyspace as this node knows it. */
final class StrongKeyspace {
  private final String name;
  private final KeyspaceOptions options;
  private final List<GroupClient.Target> targets;
  private final GroupAccess access;
  private final int port;

  /** How requests of this node get to the leaders. */
  interface GroupAccess {
    /** The client of the server for the keyspace's durability. */
    GroupClient client();
  }

  /**
   * A keyspace.
   *
   * @param port of the groups of its durability, on all nodes
   */
  StrongKeyspace(String name, KeyspaceOptions options, int port, GroupAccess access) {
    this.name = name;
    this.options = options;
    this.access = access;
    this.port = port;
    this.targets =
        options.layout().groups().stream()
            .map(group -> new GroupClient.Target(idOf(group), peers(group, port)))
            .toList();
  }

  /** As the schema has it now: replicas may have moved since. */
  StrongKeyspace now() {
    return Optional.ofNullable(Schema.instance.getKeyspaceMetadata(name))
        .flatMap(StrongKeyspaces::options)
        .filter(now -> now.incarnation().equals(options.incarnation()))
        .map(now -> new StrongKeyspace(name, now, port, access))
        .orElse(this);
  }

  private UUID idOf(Layout.Group group) {
    return idOf(options.incarnation(), group.number());
  }

  /** The id of a group; another for a keyspace that is dropped and created again. */
  static UUID idOf(UUID incarnation, int group) {
    String name = incarnation + "/" + group;
    return UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8));
  }

  private static List<Peer> peers(Layout.Group group, int port) {
    return group.members().stream().map(member -> peer(member, port)).toList();
  }

  static Peer peer(Layout.Member member, int port) {
    InetAddressAndPort address = ReplicatedLogStrategy.address(member);
    return new Peer(member.id(), new InetSocketAddress(address.getAddress(), port));
  }

  String name() {
    return name;
  }

  /** Whether it is not dropped, as far as this node knows; another one of its name may be there. */
  boolean isInSchema() {
    KeyspaceMetadata now = Schema.instance.getKeyspaceMetadata(name);
    return now != null
        && options
            .incarnation()
            .toString()
            .equals(now.params.replication.options.get(KeyspaceOptions.INCARNATION));
  }

  KeyspaceOptions options() {
    return options;
  }

  Layout layout() {
    return options.layout();
  }

  GroupClient client() {
    return access.client();
  }

  List<GroupClient.Target> targets() {
    return targets;
  }

  GroupClient.Target target(Layout.Group group) {
    return targets.get(group.number());
  }

  Layout.Group groupOf(Token token) {
    return layout().groupOf(((LongToken) token).getLongValue());
  }

  Layout.Span spanOf(Token token) {
    return layout().spanOf(((LongToken) token).getLongValue());
  }

  GroupClient.Target targetOf(Token token) {
    return target(groupOf(token));
  }
}
