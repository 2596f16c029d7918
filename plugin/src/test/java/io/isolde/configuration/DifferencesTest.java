// SPDX-License-Identifier: Apache-2.0
package io.isolde.configuration;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.configuration.Configuration;
import io.isolde.oracle.configuration.ConfigurationReport;
import io.isolde.oracle.configuration.ConfiguredGroup;
import io.isolde.oracle.configuration.ConfiguredNode;
import io.isolde.oracle.configuration.GroupInfo;
import io.isolde.oracle.configuration.NodeInfo;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class DifferencesTest {
  private static final UUID SELF = new UUID(1, 1);
  private static final UUID OTHER = new UUID(1, 2);
  private static final UUID GROUP = new UUID(2, 1);
  private static final NodeInfo NODE = new NodeInfo(SELF, "10.0.0.1", "cql", "dc", "rack");
  private static final GroupInfo INFO = group("bank", SELF);

  private static GroupInfo group(String keyspace, UUID member) {
    return new GroupInfo(GROUP, keyspace, 0, "batch", List.of(), List.of(member));
  }

  private static Differences from(GroupInfo group, UUID leader, long term) {
    return new Differences(
        new Configuration(
            9,
            List.of(new ConfiguredNode(NODE, true, 1)),
            List.of(new ConfiguredGroup(group, leader, term, 2))));
  }

  private static List<ConfigurationReport> ofGroup(Differences differences, long term) {
    return differences.ofGroups(
        SELF, Map.of(GROUP, term), id -> Optional.of(INFO).filter(i -> id.equals(GROUP)), () -> 5);
  }

  @Test
  void whenAllIsKnownThenThereIsNothingToReport() {
    Differences none = from(INFO, SELF, 3);
    assertThat(none.ofNode(NODE, () -> 5)).isEmpty();
    assertThat(ofGroup(none, 3)).isEmpty();
    assertThat(none.missing(SELF::equals, Set.of(GROUP))).isEmpty();
  }

  @Test
  void whenANodeIsNotKnownAsItIsThenItRegisters() {
    NodeInfo moved = new NodeInfo(SELF, "10.0.0.9", "cql", "dc", "rack");
    assertThat(from(INFO, SELF, 3).ofNode(moved, () -> 5))
        .contains(new ConfigurationReport.RegisterNode(moved, 5));
    assertThat(new Differences(Configuration.EMPTY).ofNode(NODE, () -> 6))
        .contains(new ConfigurationReport.RegisterNode(NODE, 6));
  }

  @Test
  void whenOnlyTheTermIsNewThenOnlyThatIsReported() {
    assertThat(ofGroup(from(INFO, OTHER, 3), 4))
        .containsExactly(new ConfigurationReport.NewLeader(GROUP, SELF, 4));
  }

  @Test
  void whenAGroupIsNotKnownOrHasOtherMembersThenItIsRegistered() {
    ConfigurationReport registration = new ConfigurationReport.RegisterGroup(INFO, SELF, 4, 5);
    assertThat(ofGroup(new Differences(Configuration.EMPTY), 4)).containsExactly(registration);
    assertThat(ofGroup(from(group("bank", OTHER), SELF, 4), 4)).containsExactly(registration);
  }

  @Test
  void whenALaterLeaderHasReportedThenAnEarlierOneIsSilent() {
    assertThat(ofGroup(from(INFO, OTHER, 8), 4)).isEmpty();
    assertThat(ofGroup(from(group("bank", OTHER), OTHER, 8), 4)).isEmpty();
  }

  @Test
  void whenSomethingIsGoneThenItIsDeregisteredAsItWasRead() {
    Differences differences = from(INFO, SELF, 3);
    Set<UUID> missing = differences.missing(host -> false, Set.of());
    assertThat(missing).containsExactlyInAnyOrder(SELF, GROUP);
    assertThat(differences.ofGone(missing))
        .containsExactlyInAnyOrder(
            new ConfigurationReport.DeregisterNode(SELF, 9),
            new ConfigurationReport.DeregisterGroup(GROUP, 9));
  }
}
