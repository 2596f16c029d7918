// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.group.Layout;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.cassandra.exceptions.ConfigurationException;

/**
 * The options of a strong keyspace's replication.
 *
 * @param replicas {@code replication_factor}
 * @param splits {@code groups}: into how many groups ranges with the same replicas are divided
 * @param durability {@code durability}
 * @param incarnation {@code incarnation}, made with the keyspace: one that is dropped and created
 *     again has other groups; null until it is made
 * @param layout {@code layout}, made with the keyspace; null until it is made
 */
record KeyspaceOptions(
    int replicas, int splits, Durability durability, UUID incarnation, Layout layout) {
  static final String REPLICATION_FACTOR = "replication_factor";
  static final String GROUPS = "groups";
  static final String DURABILITY = "durability";
  static final String INCARNATION = "incarnation";
  static final String LAYOUT = "layout";
  static final Set<String> NAMES =
      Set.of(REPLICATION_FACTOR, GROUPS, DURABILITY, INCARNATION, LAYOUT);

  /** When a write is answered. */
  enum Durability {
    /** When a majority has it on disk. */
    BATCH,
    /** When a majority has it in memory; their disks get it soon. */
    PERIODIC
  }

  static KeyspaceOptions parse(Map<String, String> options) {
    String durability = options.getOrDefault(DURABILITY, "batch");
    if (!durability.equals("batch") && !durability.equals("periodic")) {
      throw new ConfigurationException("durability must be 'batch' or 'periodic'.");
    }
    String incarnation = options.get(INCARNATION);
    String layout = options.get(LAYOUT);
    try {
      return new KeyspaceOptions(
          number(options, REPLICATION_FACTOR, null),
          number(options, GROUPS, "1"),
          durability.equals("batch") ? Durability.BATCH : Durability.PERIODIC,
          incarnation == null ? null : UUID.fromString(incarnation),
          layout == null ? null : Layout.parse(layout));
    } catch (IllegalArgumentException e) {
      throw new ConfigurationException(e.getMessage());
    }
  }

  private static int number(Map<String, String> options, String name, String byDefault) {
    String value = options.getOrDefault(name, byDefault);
    if (value == null || !value.matches("[1-9]\\d{0,2}")) {
      throw new ConfigurationException(name + " must be a number from 1 on, not " + value + ".");
    }
    return Integer.parseInt(value);
  }

  /** These options, as they are stored, with what is made when the keyspace is. */
  static Map<String, String> made(Map<String, String> given, Layout layout) {
    Map<String, String> options = new LinkedHashMap<>(given);
    options.put("class", ReplicatedLogStrategy.class.getName());
    options.put(INCARNATION, UUID.randomUUID().toString());
    options.put(LAYOUT, layout.toString());
    return options;
  }
}
