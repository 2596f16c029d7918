// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.group.Layout;
import io.isolde.group.Placement;
import io.isolde.peers.NewName;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.statements.PropertyDefinitions;
import org.apache.cassandra.cql3.statements.schema.AlterKeyspaceStatement;
import org.apache.cassandra.cql3.statements.schema.CreateKeyspaceStatement;
import org.apache.cassandra.cql3.statements.schema.CreateTriggerStatement;
import org.apache.cassandra.cql3.statements.schema.CreateViewStatement;
import org.apache.cassandra.cql3.statements.schema.KeyspaceAttributes;
import org.apache.cassandra.dht.Murmur3Partitioner.LongToken;
import org.apache.cassandra.dht.Token;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.locator.TokenMetadata;
import org.apache.cassandra.service.StorageService;

/**
 * CREATE KEYSPACE gives a strong keyspace what all nodes must agree on: its layout, made of the
 * ring as it is now, and the name of this incarnation. What can't be done to one is refused.
 */
public final class KeyspaceStatements {
  private static final String REPLICATION = "replication";
  private static final String DURABLE_WRITES = "durable_writes";
  private static final PrivateField CREATED =
      PrivateField.of(CreateKeyspaceStatement.class, "attrs");
  private static final PrivateField IF_NOT_EXISTS =
      PrivateField.of(CreateKeyspaceStatement.class, "ifNotExists");
  private static final PrivateField ALTERED =
      PrivateField.of(AlterKeyspaceStatement.class, "attrs");
  private static final PrivateField PROPERTIES =
      PrivateField.of(PropertyDefinitions.class, "properties");

  private KeyspaceStatements() {}

  /**
   * What is to be executed in the place of a statement that changes the schema, mostly itself.
   *
   * @throws IsoldeException UNSUPPORTED_KEYSPACE
   */
  public static CQLStatement replace(CQLStatement statement) {
    if (statement instanceof CreateKeyspaceStatement create) {
      return create(create);
    }
    if (statement instanceof AlterKeyspaceStatement alter) {
      refuse(alter);
    } else if (statement instanceof CreateViewStatement view
        && ReplicatedLogStrategy.isOf(view.keyspace())) {
      throw unsupported(
          "Materialized views are not for strong keyspaces. Keep a second table instead, and write"
              + " both in a transaction; or make an index, which SELECT asks by other columns.");
    } else if (statement instanceof CreateTriggerStatement trigger
        && ReplicatedLogStrategy.isOf(trigger.keyspace())) {
      throw unsupported(
          "Triggers are not executed in strong keyspaces: have the application write what they"
              + " would, in the same BATCH or transaction.");
    }
    return statement;
  }

  private static IsoldeException unsupported(String sentence) {
    return IsoldeException.of(ErrorCode.UNSUPPORTED_KEYSPACE, sentence);
  }

  @SuppressWarnings("unchecked") // as Cassandra's parser makes them
  private static Map<String, Object> properties(Object attributes) {
    return (Map<String, Object>) PROPERTIES.get(attributes);
  }

  /** The options of a keyspace's replication that a statement has, its class among them. */
  static Map<String, String> replication(CreateKeyspaceStatement statement) {
    return replication(properties(CREATED.get(statement)));
  }

  /** As the other one; empty if it changes nothing of that. */
  static Map<String, String> replication(AlterKeyspaceStatement statement) {
    return replication(properties(ALTERED.get(statement)));
  }

  /**
   * The same statement with other options of its replication; logs are durable, so no word of it.
   */
  static AlterKeyspaceStatement with(
      AlterKeyspaceStatement statement, Map<String, String> replication) {
    KeyspaceAttributes made = new KeyspaceAttributes();
    properties(ALTERED.get(statement))
        .forEach(
            (name, value) -> {
              if (!name.equals(REPLICATION) && !name.equals(DURABLE_WRITES)) {
                made.addProperty(name, String.valueOf(value));
              }
            });
    made.addProperty(REPLICATION, replication);
    return new AlterKeyspaceStatement(statement.keyspace(), made, false);
  }

  /** The same statement with other options of its replication. */
  static CreateKeyspaceStatement with(
      CreateKeyspaceStatement statement, Map<String, String> replication) {
    KeyspaceAttributes made = othersOf(statement, Set.of(REPLICATION));
    made.addProperty(REPLICATION, replication);
    return new CreateKeyspaceStatement(
        statement.keyspace(), made, (Boolean) IF_NOT_EXISTS.get(statement));
  }

  /** Its properties without some. */
  private static KeyspaceAttributes othersOf(
      CreateKeyspaceStatement statement, Set<String> without) {
    KeyspaceAttributes others = new KeyspaceAttributes();
    properties(CREATED.get(statement))
        .forEach(
            (name, value) -> {
              if (!without.contains(name)) {
                others.addProperty(name, String.valueOf(value));
              }
            });
    return others;
  }

  @SuppressWarnings("unchecked") // as Cassandra's parser makes them
  private static Map<String, String> replication(Map<String, Object> properties) {
    return properties.get(REPLICATION) instanceof Map<?, ?> map
        ? (Map<String, String>) map
        : Map.of();
  }

  /** Whether a statement makes a strong keyspace. */
  public static boolean isStrong(CreateKeyspaceStatement statement) {
    return isStrong(replication(properties(CREATED.get(statement))));
  }

  private static boolean isStrong(Map<String, String> replication) {
    String name = replication.getOrDefault("class", "");
    return name.equals(ReplicatedLogStrategy.class.getName())
        || name.equals(ReplicatedLogStrategy.class.getSimpleName());
  }

  private static CQLStatement create(CreateKeyspaceStatement statement) {
    Map<String, Object> given = properties(CREATED.get(statement));
    Map<String, String> replication = replication(given);
    if (!isStrong(replication)) {
      return statement;
    }
    Map<String, String> asked = new HashMap<>(replication);
    asked.remove(KeyspaceOptions.LAYOUT);
    asked.remove(KeyspaceOptions.INCARNATION);
    KeyspaceOptions options = KeyspaceOptions.parse(asked);
    KeyspaceAttributes made = othersOf(statement, Set.of(REPLICATION, DURABLE_WRITES));
    Layout layout = layout(options);
    if (!new NewName(statement.keyspace(), null).isThere()) {
      GroupMemory.requireRoom(statement.keyspace(), layout);
    }
    made.addProperty(REPLICATION, KeyspaceOptions.made(asked, layout));
    // The groups' logs are the write-ahead logs; nothing is written twice.
    made.addProperty(DURABLE_WRITES, "false");
    return new CreateKeyspaceStatement(
        statement.keyspace(), made, (Boolean) IF_NOT_EXISTS.get(statement));
  }

  private static Layout layout(KeyspaceOptions options) {
    try {
      List<Layout.Place> ring = ring();
      List<Layout.Member> nodes = ring.stream().map(Layout.Place::member).distinct().toList();
      Placement placement = Placement.of(NodeLocations.of(nodes), options.replicas());
      return Layout.of(ring, placement, options.splits());
    } catch (IllegalArgumentException e) {
      throw unsupported("The keyspace can't be created: " + e.getMessage());
    }
  }

  /** All nodes' places, as this node knows them. */
  static List<Layout.Place> ring() {
    TokenMetadata ring = StorageService.instance.getTokenMetadata().cloneOnlyTokenMap();
    if (!(ring.partitioner instanceof org.apache.cassandra.dht.Murmur3Partitioner)) {
      throw unsupported("Strong keyspaces need the Murmur3Partitioner.");
    }
    List<Layout.Place> places = new ArrayList<>();
    for (Token token : ring.sortedTokens()) {
      InetAddressAndPort endpoint = ring.getEndpoint(token);
      UUID host = ring.getHostId(endpoint);
      if (host == null) {
        throw IsoldeException.of(
            ErrorCode.UNAVAILABLE, "The id of " + endpoint + " is not known yet; try again.");
      }
      Layout.Member member = new Layout.Member(host.toString(), endpoint.getHostAddressAndPort());
      places.add(new Layout.Place(((LongToken) token).getLongValue(), member));
    }
    return places;
  }

  private static void refuse(AlterKeyspaceStatement statement) {
    Map<String, Object> properties = properties(ALTERED.get(statement));
    boolean isToBeStrong = isStrong(replication(properties));
    if (ReplicatedLogStrategy.isOf(statement.keyspace())) {
      if (!isToBeStrong) {
        throw unsupported(
            "ALTER KEYSPACE changes where a strong keyspace has replicas, WITH replication ="
                + " {'class': 'ReplicatedLogStrategy', 'replication_factor': …}. All else stays;"
                + " create another keyspace and copy the tables.");
      }
      if (properties.size() > 1) {
        throw unsupported(
            "ALTER KEYSPACE changes the replication of a strong keyspace and nothing else; its logs"
                + " are durable without durable_writes.");
      }
    } else if (isToBeStrong) {
      throw unsupported(
          "A keyspace can't become a strong one: create another one and copy the tables.");
    }
  }
}
