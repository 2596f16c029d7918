// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.group.Layout;
import io.isolde.group.ReplicaCounts;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.apache.cassandra.exceptions.ConfigurationException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The options of a strong keyspace's replication.
 *
 * @param replicas {@code replication_factor}, or a datacenter's name and number for each; and
 *     {@code leaders}, the datacenter where groups are to be led
 * @param splits {@code groups}: into how many groups ranges with the same replicas are divided
 * @param durability {@code durability}
 * @param incarnation {@code incarnation}, made with the keyspace: one that is dropped and created
 *     again has other groups; null until it is made
 * @param layout {@code layout}, made with the keyspace; null until it is made
 */
record KeyspaceOptions(
    ReplicaCounts replicas, int splits, Durability durability, UUID incarnation, Layout layout) {
  private static final Logger logger = LoggerFactory.getLogger(KeyspaceOptions.class);
  private static final int MAX_LOGGED = 100;

  /** Options that were ignored; said once. */
  private static final Set<String> LOGGED = ConcurrentHashMap.newKeySet();

  private static final String CLASS = "class";
  private static final Pattern NUMBER = Pattern.compile("[1-9]\\d{0,2}");
  static final String REPLICATION_FACTOR = "replication_factor";
  static final String LEADERS = "leaders";
  static final String GROUPS = "groups";
  static final String DURABILITY = "durability";
  static final String INCARNATION = "incarnation";
  static final String LAYOUT = "layout";

  /** All others are datacenters. */
  private static final Set<String> NAMES =
      Set.of(REPLICATION_FACTOR, LEADERS, GROUPS, DURABILITY, INCARNATION, LAYOUT);

  /** When a write is answered. */
  enum Durability {
    /** When a majority has it on disk. */
    BATCH,
    /** When a majority has it in memory; their disks get it soon. */
    PERIODIC
  }

  /** The names of those that are known, and of the datacenters. */
  Set<String> names() {
    Set<String> names = new TreeSet<>(NAMES);
    names.addAll(replicas.byDatacenter().keySet());
    return names;
  }

  /**
   * Reads options. What has a layout comes from the schema, perhaps from a later build: there,
   * names that are not known are ignored, so that the node opens its schema.
   *
   * @throws ConfigurationException if they are wrong
   */
  static KeyspaceOptions parse(Map<String, String> options) {
    String durability = options.getOrDefault(DURABILITY, "batch");
    if (!durability.equals("batch") && !durability.equals("periodic")) {
      throw new ConfigurationException("durability must be 'batch' or 'periodic'.");
    }
    String incarnation = options.get(INCARNATION);
    String layout = options.get(LAYOUT);
    try {
      return new KeyspaceOptions(
          replicas(options),
          number(options, GROUPS, "1"),
          durability.equals("batch") ? Durability.BATCH : Durability.PERIODIC,
          incarnation == null ? null : UUID.fromString(incarnation),
          layout == null ? null : Layout.parse(layout));
    } catch (IllegalArgumentException e) {
      throw new ConfigurationException(e.getMessage());
    }
  }

  private static ReplicaCounts replicas(Map<String, String> options) {
    boolean isStored = options.containsKey(LAYOUT);
    Map<String, Integer> byDatacenter = new TreeMap<>();
    for (String name : options.keySet()) {
      if (!NAMES.contains(name) && !name.equals(CLASS)) {
        if (!NUMBER.matcher(options.get(name)).matches()) {
          if (isStored) {
            ignored(name, options.get(name));
            continue;
          }
          throw new ConfigurationException(
              "'%s' is neither an option nor the name of a datacenter with its number of replicas."
                      .formatted(name)
                  + " Options are "
                  + new TreeSet<>(NAMES)
                  + ".");
        }
        byDatacenter.put(name, number(options, name, null));
      }
    }
    int sum = byDatacenter.values().stream().mapToInt(Integer::intValue).sum();
    int all = number(options, REPLICATION_FACTOR, sum == 0 ? null : String.valueOf(sum));
    if (isStored && sum != 0 && sum != all) {
      byDatacenter.forEach((name, number) -> ignored(name, String.valueOf(number)));
      byDatacenter.clear(); // Which of them are datacenters is not known.
    }
    return new ReplicaCounts(all, byDatacenter, Optional.ofNullable(options.get(LEADERS)));
  }

  private static void ignored(String name, String value) {
    if (LOGGED.size() < MAX_LOGGED && LOGGED.add(name)) {
      logger.warn(
          "This build ignores the option '{}': '{}' of a strong keyspace, which it does not know",
          name,
          value);
    }
  }

  private static int number(Map<String, String> options, String name, String byDefault) {
    String value = options.getOrDefault(name, byDefault);
    if (value == null || !NUMBER.matcher(value).matches()) {
      throw new ConfigurationException(name + " must be a number from 1 on, not " + value + ".");
    }
    return Integer.parseInt(value);
  }

  /** These options, as they are stored, with what is made when the keyspace is. */
  static Map<String, String> made(Map<String, String> given, Layout layout) {
    Map<String, String> options = new LinkedHashMap<>(given);
    options.put(CLASS, ReplicatedLogStrategy.class.getName());
    // Also where it is the datacenters' sum: Cassandra and drivers expect it.
    options.put(REPLICATION_FACTOR, String.valueOf(parse(given).replicas().all()));
    options.put(INCARNATION, UUID.randomUUID().toString());
    options.put(LAYOUT, layout.toString());
    return options;
  }

  /**
   * The options that the replication of this keyspace has after {@code ALTER KEYSPACE}, but for
   * those that were made with it. Where replicas are to be is what is asked for now; groups and
   * durability stay.
   *
   * @throws ConfigurationException if an option is wrong
   * @throws IsoldeException UNSUPPORTED_KEYSPACE if groups or the durability would be others
   */
  Map<String, String> altered(Map<String, String> asked) {
    Map<String, String> options = new LinkedHashMap<>(asked);
    options.remove(LAYOUT);
    options.remove(INCARNATION);
    keep(options, GROUPS, String.valueOf(splits));
    keep(options, DURABILITY, durability.name().toLowerCase(Locale.ROOT));
    options.put(CLASS, ReplicatedLogStrategy.class.getName());
    options.put(REPLICATION_FACTOR, String.valueOf(parse(options).replicas().all()));
    return options;
  }

  private static void keep(Map<String, String> options, String name, String now) {
    String given = options.putIfAbsent(name, now);
    if (given != null && !given.equals(now)) {
      throw IsoldeException.of(
          ErrorCode.UNSUPPORTED_KEYSPACE,
          "'%s' is '%s', and stays so: create another keyspace and copy the tables."
              .formatted(name, now));
    }
  }
}
