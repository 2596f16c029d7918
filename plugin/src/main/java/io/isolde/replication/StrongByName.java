// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.group.Layout;
import io.isolde.group.Location;
import io.isolde.peers.EveryNode;
import io.isolde.peers.NewName;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.statements.schema.AlterKeyspaceStatement;
import org.apache.cassandra.cql3.statements.schema.CreateKeyspaceStatement;
import org.apache.cassandra.schema.KeyspaceMetadata;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.SchemaChangeListener;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.ClientWarn;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keyspaces that are strong ones by their names: {@code strong_keyspaces}. Tools that can't be
 * changed create them with {@code SimpleStrategy} or {@code NetworkTopologyStrategy}. The schema
 * gets the class of strong keyspaces, with the same numbers of replicas.
 */
public final class StrongByName implements SchemaChangeListener {
  private static final Logger logger = LoggerFactory.getLogger(StrongByName.class);
  private static final String CLASS = "class";
  private static final String PACKAGE = "org.apache.cassandra.locator.";
  private static final String SIMPLE = "SimpleStrategy";
  private static final String BY_DATACENTER = "NetworkTopologyStrategy";

  private final List<String> names;
  private final EveryNode everyNode;

  /**
   * Knows the names.
   *
   * @param names the setting, checked
   */
  public StrongByName(List<String> names, EveryNode everyNode) {
    this.names = names;
    this.everyNode = everyNode;
  }

  /** Says from now on which keyspaces are plain ones all the same, those that are there first. */
  public void follow() {
    if (names.isEmpty()) {
      return;
    }
    Schema.instance.registerListener(this);
    for (String name : Schema.instance.getUserKeyspaces()) {
      // It may have been dropped meanwhile.
      Optional.ofNullable(Schema.instance.getKeyspaceMetadata(name))
          .ifPresent(this::onCreateKeyspace);
    }
  }

  @Override
  public void onCreateKeyspace(KeyspaceMetadata keyspace) {
    if (isNamed(keyspace.name) && !ReplicatedLogStrategy.isOf(keyspace.name)) {
      logger.error(
          "The keyspace {} is named in strong_keyspaces, but it is a plain one. It was created"
              + " before, or through a node without that setting. Drop it and create it again, or"
              + " take it off the setting.",
          keyspace.name);
    }
  }

  private boolean isNamed(String keyspace) {
    return names.stream()
        .anyMatch(
            name ->
                name.endsWith("*")
                    ? keyspace.startsWith(name.substring(0, name.length() - 1))
                    : keyspace.equals(name));
  }

  /**
   * As {@link KeyspaceStatements#replace}, with the keyspaces that are named.
   *
   * @throws io.isolde.error.IsoldeException UNSUPPORTED_KEYSPACE also if the setting differs on a
   *     node
   */
  public CQLStatement replace(CQLStatement statement, ClientState client) {
    if (statement instanceof CreateKeyspaceStatement create && isNamed(create.keyspace())) {
      return KeyspaceStatements.replace(created(create, client));
    }
    if (statement instanceof AlterKeyspaceStatement alter
        && isNamed(alter.keyspace())
        && ReplicatedLogStrategy.isOf(alter.keyspace())) {
      return KeyspaceStatements.replace(altered(alter));
    }
    return KeyspaceStatements.replace(statement);
  }

  private CreateKeyspaceStatement created(CreateKeyspaceStatement create, ClientState client) {
    if (new NewName(create.keyspace(), null).isThere()) {
      return create;
    }
    Optional<Map<String, String>> strong = strong(KeyspaceStatements.replication(create));
    if (strong.isEmpty()) {
      return create;
    }
    create.authorize(client);
    everyNode.requireSameStrongKeyspaces("CREATE KEYSPACE " + create.keyspace());
    ClientWarn.instance.warn(
        "%s is created as a strong keyspace, as strong_keyspaces names it."
            .formatted(create.keyspace()));
    return KeyspaceStatements.with(create, strong.get());
  }

  /** The tool knows nothing of leaders; they stay where somebody wants them, if that still goes. */
  private static AlterKeyspaceStatement altered(AlterKeyspaceStatement alter) {
    Optional<Map<String, String>> strong = strong(KeyspaceStatements.replication(alter));
    if (strong.isEmpty()) {
      return alter;
    }
    Map<String, String> options = new TreeMap<>(strong.get());
    KeyspaceOptions now =
        StrongKeyspaces.options(Schema.instance.getKeyspaceMetadata(alter.keyspace()))
            .orElseThrow();
    now.replicas()
        .leaders()
        .filter(
            datacenter ->
                now.replicas().byDatacenter().isEmpty() || options.containsKey(datacenter))
        .ifPresent(datacenter -> options.put(KeyspaceOptions.LEADERS, datacenter));
    return KeyspaceStatements.with(alter, options);
  }

  private static Optional<Map<String, String>> strong(Map<String, String> replication) {
    List<Layout.Member> nodes =
        KeyspaceStatements.ring().stream().map(Layout.Place::member).distinct().toList();
    Set<String> datacenters = new TreeSet<>();
    for (Location location : NodeLocations.of(nodes).values()) {
      datacenters.add(location.datacenter());
    }
    return strong(replication, datacenters, DatabaseDescriptor.getDefaultKeyspaceRF());
  }

  /**
   * The options of a strong keyspace with as many replicas; empty if the class is neither of the
   * two.
   *
   * @param datacenters those that there are
   * @param byDefault how many replicas there are if nothing says it
   */
  static Optional<Map<String, String>> strong(
      Map<String, String> replication, Collection<String> datacenters, int byDefault) {
    Map<String, String> given = new HashMap<>(replication);
    String name = given.getOrDefault(CLASS, "").replace(PACKAGE, "");
    given.remove(CLASS);
    String number = given.remove(KeyspaceOptions.REPLICATION_FACTOR);
    Map<String, String> strong = new TreeMap<>();
    strong.put(CLASS, ReplicatedLogStrategy.class.getName());
    if (name.equals(SIMPLE)) {
      strong.putAll(given); // What is wrong there is refused as such.
      strong.put(
          KeyspaceOptions.REPLICATION_FACTOR, number == null ? String.valueOf(byDefault) : number);
      return Optional.of(strong);
    }
    if (!name.equals(BY_DATACENTER)) {
      return Optional.empty();
    }
    String everywhere = number == null && given.isEmpty() ? String.valueOf(byDefault) : number;
    if (everywhere != null) {
      datacenters.forEach(datacenter -> strong.put(datacenter, everywhere));
    }
    strong.putAll(given);
    strong.values().removeIf("0"::equals);
    return Optional.of(strong);
  }
}
