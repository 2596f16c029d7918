// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.error.ErrorCode;
import io.isolde.group.Layout;
import io.isolde.install.ActiveHandler;
import java.net.UnknownHostException;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.WriteType;
import org.apache.cassandra.dht.Murmur3Partitioner.LongToken;
import org.apache.cassandra.dht.Range;
import org.apache.cassandra.dht.RingPosition;
import org.apache.cassandra.dht.Token;
import org.apache.cassandra.exceptions.ConfigurationException;
import org.apache.cassandra.locator.EndpointsByRange;
import org.apache.cassandra.locator.EndpointsForRange;
import org.apache.cassandra.locator.IEndpointSnitch;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.locator.RangesAtEndpoint;
import org.apache.cassandra.locator.RangesByEndpoint;
import org.apache.cassandra.locator.Replica;
import org.apache.cassandra.locator.ReplicaPlan;
import org.apache.cassandra.locator.SimpleStrategy;
import org.apache.cassandra.locator.TokenMetadata;
import org.apache.cassandra.schema.KeyspaceMetadata;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.AbstractWriteResponseHandler;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.utils.FBUtilities;

/**
 * The replication strategy of strongly consistent keyspaces: {@code {'class':
 * 'io.isolde.replication.ReplicatedLogStrategy', 'replication_factor': 3}}. A range's replicas are
 * those of the layout, which is made when the keyspace is created and changed when replicas move.
 * Keyspaces are recognised by this class.
 */
public final class ReplicatedLogStrategy extends SimpleStrategy {
  private final KeyspaceOptions options;

  /** Of each range of the layout, when first asked for. */
  private final Map<Layout.Span, EndpointsForRange> replicas = new ConcurrentHashMap<>();

  /** Called by Cassandra. */
  public ReplicatedLogStrategy(
      String keyspace, TokenMetadata ring, IEndpointSnitch snitch, Map<String, String> options) {
    super(keyspace, ring, snitch, options);
    this.options = KeyspaceOptions.parse(options);
  }

  /** Whether a table is of a strong keyspace. */
  public static boolean isOf(TableMetadata table) {
    return isOf(table.keyspace);
  }

  /** Whether a keyspace is a strong one, also before Cassandra has opened it. */
  public static boolean isOf(String name) {
    KeyspaceMetadata keyspace = Schema.instance.getKeyspaceMetadata(name);
    return keyspace != null && keyspace.params.replication.klass == ReplicatedLogStrategy.class;
  }

  KeyspaceOptions options() {
    return options;
  }

  @Override
  public void validateOptions() throws ConfigurationException {
    super.validateOptions();
    var unused = KeyspaceOptions.parse(configOptions);
  }

  @Override
  public Collection<String> recognizedOptions() {
    Set<String> names = options.names();
    if (options.layout() != null) {
      names.addAll(configOptions.keySet()); // Perhaps of a later build; CREATE has checked them.
    }
    return names;
  }

  /** Not by the ring: its ranges change when nodes come and go, those of the groups do not. */
  @Override
  public EndpointsForRange getNaturalReplicas(RingPosition<?> position) {
    return options.layout() == null
        ? super.getNaturalReplicas(position)
        : replicasOf(((LongToken) position.getToken()).getLongValue());
  }

  @Override
  public EndpointsForRange calculateNaturalReplicas(Token token, TokenMetadata ring) {
    return options.layout() == null
        ? super.calculateNaturalReplicas(token, ring)
        : replicasOf(((LongToken) token).getLongValue());
  }

  @Override
  public RangesByEndpoint getAddressReplicas(TokenMetadata ring) {
    if (options.layout() == null) {
      return super.getAddressReplicas(ring);
    }
    RangesByEndpoint.Builder replicas = new RangesByEndpoint.Builder();
    forEach(replica -> replicas.put(replica.endpoint(), replica));
    return replicas.build();
  }

  /** Of this node also what it has open: what is cleaned up and streamed goes by this. */
  @Override
  public RangesAtEndpoint getAddressReplicas(TokenMetadata ring, InetAddressAndPort endpoint) {
    if (options.layout() == null) {
      return super.getAddressReplicas(ring, endpoint);
    }
    boolean isSelf = endpoint.equals(FBUtilities.getBroadcastAddressAndPort());
    RangesAtEndpoint.Builder replicas = RangesAtEndpoint.builder(endpoint);
    for (Layout.Span span : options.layout().spans()) {
      EndpointsForRange members = replicasOf(span.end());
      boolean isMember = members.endpoints().contains(endpoint);
      int group = options.layout().groupOf(span.end()).number();
      UUID id = StrongKeyspace.idOf(options.incarnation(), group);
      if (isSelf ? HeldGroups.isHeld(id, isMember) : isMember) {
        replicas.add(new Replica(endpoint, members.range(), true));
      }
    }
    return replicas.build();
  }

  @Override
  public EndpointsByRange getRangeAddresses(TokenMetadata ring) {
    if (options.layout() == null) {
      return super.getRangeAddresses(ring);
    }
    EndpointsByRange.Builder replicas = new EndpointsByRange.Builder();
    forEach(replica -> replicas.put(replica.range(), replica));
    return replicas.build();
  }

  /** All that is written to other nodes, or waited for, asks for one. */
  @Override
  public <T> AbstractWriteResponseHandler<T> getWriteResponseHandler(
      ReplicaPlan.ForWrite plan,
      Runnable callback,
      WriteType type,
      Supplier<Mutation> hintOnFailure,
      Dispatcher.RequestTime requestTime) {
    ActiveHandler.requireOurs(ErrorCode.UNSUPPORTED_KEYSPACE);
    return super.getWriteResponseHandler(plan, callback, type, hintOnFailure, requestTime);
  }

  private void forEach(Consumer<Replica> action) {
    for (Layout.Span span : options.layout().spans()) {
      replicasOf(span.end()).forEach(action);
    }
  }

  private EndpointsForRange replicasOf(long token) {
    Layout.Span span = options.layout().spanOf(token);
    return replicas.computeIfAbsent(
        span,
        unused -> {
          Range<Token> range = new Range<>(new LongToken(span.start()), new LongToken(span.end()));
          Layout.Group group = options.layout().groupOf(token);
          EndpointsForRange.Builder members =
              new EndpointsForRange.Builder(range, group.members().size());
          group.members().forEach(one -> members.add(new Replica(address(one), range, true)));
          return members.build();
        });
  }

  static InetAddressAndPort address(Layout.Member member) {
    try {
      return InetAddressAndPort.getByName(member.address());
    } catch (UnknownHostException e) {
      throw new ConfigurationException("The layout names " + member.address() + ".", e);
    }
  }
}
