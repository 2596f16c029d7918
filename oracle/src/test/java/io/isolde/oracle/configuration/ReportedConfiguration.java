// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.configuration;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.UnaryOperator;

/**
 * Random reports, late and repeated, on replicas of which one is restored again and again; checked
 * after each. What an entry says depends on the term and generation of its report, so that an old
 * report that wins is seen.
 */
final class ReportedConfiguration {
  private static final int IDS = 4;

  private final Random random;
  private final ConfigurationState one = new ConfigurationState();
  private ConfigurationState restored = new ConfigurationState();
  private final UnaryOperator<ConfigurationReport> onItsWay;
  private final Set<UUID> sessions = new HashSet<>();
  private final List<ConfigurationReport> sent = new ArrayList<>();
  private final List<Configuration> read = new ArrayList<>();

  /** The newest term and generation that an entry ever had. */
  private final Map<UUID, Long> newest = new HashMap<>();

  /**
   * @param onItsWay what happens to a report before a replica applies it; a mistake, or nothing
   */
  ReportedConfiguration(long seed, UnaryOperator<ConfigurationReport> onItsWay) {
    this.random = new Random(seed);
    this.onItsWay = onItsWay;
    read.add(one.configuration());
  }

  static UUID host(long number) {
    return new UUID(1, number);
  }

  static UUID group(long number) {
    return new UUID(2, number);
  }

  private static UUID leaderIn(long term) {
    return host(term % IDS);
  }

  static NodeInfo node(UUID host, long generation) {
    return new NodeInfo(host, "address-" + generation, "cql", "dc", "rack");
  }

  static GroupInfo groupInfo(UUID id, long term, long generation) {
    return new GroupInfo(
        id,
        "keyspace",
        0,
        term + "/" + generation,
        List.of(new GroupInfo.Range(generation, 7)),
        List.of(host(1)));
  }

  void run(int steps) {
    for (int i = 0; i < steps; i++) {
      step(i);
    }
  }

  private void step(int number) {
    long before = one.version();
    if (random.nextInt(8) == 0) {
      UUID host = host(random.nextInt(IDS));
      boolean isOpen = sessions.add(host) || !sessions.remove(host);
      one.sessionChanged(host, isOpen, number);
      restored.sessionChanged(host, isOpen, number);
      assertThat(one.version() - before).isBetween(0L, 1L);
    } else {
      apply(report(before), number);
    }
    if (random.nextInt(5) == 0) {
      restored = ConfigurationState.of(restored.save());
    }
    check();
  }

  private void apply(ConfigurationReport report, int number) {
    long before = one.version();
    ConfigurationReport arrived = onItsWay.apply(report);
    Effect effect = one.apply(arrived, number, sessions::contains);
    assertThat(restored.apply(arrived, number, sessions::contains)).isEqualTo(effect);
    assertThat(one.version()).isEqualTo(before + (effect == Effect.CHANGED ? 1 : 0));
    Effect again = one.apply(report, number, sessions::contains);
    assertThat(restored.apply(report, number, sessions::contains)).isEqualTo(again);
    assertThat(again).as("%s, repeated", report).isNotEqualTo(Effect.CHANGED);
  }

  private ConfigurationReport report(long version) {
    if (!sent.isEmpty() && random.nextInt(4) == 0) {
      return sent.get(random.nextInt(sent.size()));
    }
    // Mostly newer with time, with many that come too late.
    long term = (long) sent.size() / 20 + random.nextInt(4);
    long generation = random.nextInt(6);
    UUID host = host(random.nextInt(IDS));
    UUID group = group(random.nextInt(IDS));
    long seen = Math.max(0, version - random.nextInt(6));
    ConfigurationReport report =
        switch (random.nextInt(8)) {
          case 0 -> new ConfigurationReport.DeregisterNode(host, seen);
          case 1 -> new ConfigurationReport.DeregisterGroup(group, seen);
          case 2, 3 -> new ConfigurationReport.NewLeader(group, leaderIn(term), term);
          case 4, 5 -> {
            long nodeGeneration = 6 * term + generation;
            yield new ConfigurationReport.RegisterNode(node(host, nodeGeneration), nodeGeneration);
          }
          default ->
              new ConfigurationReport.RegisterGroup(
                  groupInfo(group, term, generation), leaderIn(term), term, generation);
        };
    sent.add(report);
    return report;
  }

  private void check() {
    assertThat(restored.save()).isEqualTo(one.save());
    Configuration now = one.configuration();
    for (Configuration earlier : read) {
      one.changesAfter(earlier.version(), Long.MAX_VALUE)
          .ifPresent(changes -> assertThat(earlier.with(changes)).isEqualTo(now));
    }
    if (random.nextInt(10) == 0) {
      read.add(now);
    }
    for (ConfiguredNode node : now.nodes()) {
      assertThat(node.isUp()).isEqualTo(sessions.contains(node.info().host()));
      check(node.info().host(), Long.parseLong(node.info().address().substring(8)));
    }
    for (ConfiguredGroup group : now.groups()) {
      assertThat(group.leader()).isEqualTo(leaderIn(group.term()));
      check(group.info().id(), group.term());
    }
  }

  private void check(UUID id, long age) {
    long before = newest.merge(id, age, Math::max);
    assertThat(age).as("what is known of %s after %d was", id, before).isEqualTo(before);
  }
}
