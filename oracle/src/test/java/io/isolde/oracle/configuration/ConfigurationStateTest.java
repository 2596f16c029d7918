// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.configuration;

import static io.isolde.oracle.configuration.ReportedConfiguration.group;
import static io.isolde.oracle.configuration.ReportedConfiguration.groupInfo;
import static io.isolde.oracle.configuration.ReportedConfiguration.host;
import static io.isolde.oracle.configuration.ReportedConfiguration.node;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ConfigurationStateTest {
  private final ConfigurationState state = new ConfigurationState();
  private boolean hasSession = true;

  private Effect apply(ConfigurationReport report) {
    return state.apply(report, 5, host -> hasSession);
  }

  private Effect register(int group, long term, long generation) {
    return apply(
        new ConfigurationReport.RegisterGroup(
            groupInfo(group(group), 0, 0), host(1), term, generation));
  }

  @Test
  void whenTheSameIsRegisteredAgainThenThereIsNoVersion() {
    assertThat(apply(new ConfigurationReport.RegisterNode(node(host(1), 1), 1)))
        .isEqualTo(Effect.CHANGED);
    assertThat(apply(new ConfigurationReport.RegisterNode(node(host(1), 1), 2)))
        .isEqualTo(Effect.UNCHANGED);
    assertThat(register(1, 3, 1)).isEqualTo(Effect.CHANGED);
    assertThat(register(1, 3, 2)).isEqualTo(Effect.UNCHANGED);
    assertThat(state.version()).isEqualTo(2);
  }

  @Test
  void whenASessionEndsThenTheNodeIsDownAndItsGroupsHaveNoLeaderToAsk() {
    apply(new ConfigurationReport.RegisterNode(node(host(1), 1), 1));
    register(1, 3, 1);
    assertThat(state()).isEqualTo(ConfiguredGroup.State.LED);
    state.sessionChanged(host(1), false, 6);
    state.sessionChanged(host(1), false, 7);
    state.sessionChanged(host(2), false, 7);
    assertThat(state()).isEqualTo(ConfiguredGroup.State.LEADER_DOWN);
    assertThat(state.version()).isEqualTo(3);
    assertThat(state.changesAfter(2, 1).orElseThrow())
        .containsExactly(new VersionedChange(3, 6, new Change.NodeLiveness(host(1), false)));
  }

  private ConfiguredGroup.State state() {
    Configuration now = state.configuration();
    return now.stateOf(now.group(group(1)).orElseThrow());
  }

  @Test
  void whenItIsReadInPartsThenTheyAreAllOfIt() {
    for (int i = 0; i < 5; i++) {
      apply(new ConfigurationReport.RegisterNode(node(host(i), 1), 1));
      register(i, 1, 1);
    }
    Configuration all = state.configuration();
    for (long maxBytes : new long[] {1, all.nodes().get(0).info().bytes() + 1, Long.MAX_VALUE}) {
      List<ConfiguredNode> nodes = new ArrayList<>();
      List<ConfiguredGroup> groups = new ArrayList<>();
      while (nodes.size() + groups.size() < state.size()) {
        Configuration part = state.page(nodes.size() + groups.size(), maxBytes);
        nodes.addAll(part.nodes());
        groups.addAll(part.groups());
      }
      assertThat(new Configuration(state.version(), nodes, groups)).isEqualTo(all);
    }
    assertThat(state.page(10, Long.MAX_VALUE).groups()).isEmpty();
  }

  @Test
  void whenAClockWasOnceAheadThenTheAnswerSaysAboveWhatTheNextReportHasToBe() {
    apply(new ConfigurationReport.RegisterNode(node(host(1), 1), Long.MAX_VALUE - 1));
    assertThat(apply(new ConfigurationReport.RegisterNode(node(host(1), 2), 7)))
        .isEqualTo(Effect.SUPERSEDED);
    long next = state.generationOf(host(1)) + 1;
    assertThat(apply(new ConfigurationReport.RegisterNode(node(host(1), 2), next)))
        .isEqualTo(Effect.CHANGED);
    assertThat(state.generationOf(host(7))).isZero();
  }

  @Test
  void whenANodeHasNoSessionThenItIsRegisteredAsDown() {
    hasSession = false;
    apply(new ConfigurationReport.RegisterNode(node(host(1), 1), 1));
    assertThat(state.configuration().node(host(1)).orElseThrow().isUp()).isFalse();
  }

  @Test
  void whenAnEntryIsRemovedThenLateReportsDoNotBringItBackAndNewerOnesDo() {
    register(1, 3, 5);
    assertThat(apply(new ConfigurationReport.DeregisterGroup(group(1), 0)))
        .isEqualTo(Effect.UNCHANGED);
    assertThat(apply(new ConfigurationReport.DeregisterGroup(group(1), 1)))
        .isEqualTo(Effect.CHANGED);
    assertThat(apply(new ConfigurationReport.DeregisterGroup(group(1), 2)))
        .isEqualTo(Effect.UNCHANGED);
    assertThat(register(1, 3, 5)).isEqualTo(Effect.SUPERSEDED);
    assertThat(state.generationOf(group(1))).isEqualTo(5);
    assertThat(apply(new ConfigurationReport.NewLeader(group(1), host(2), 9)))
        .isEqualTo(Effect.NO_SUCH_GROUP);
    assertThat(register(1, 3, 6)).isEqualTo(Effect.CHANGED);
  }

  @Test
  void whenThereAreTooManyNodesThenMoreAreRefusedAndTheOthersMayChange() {
    for (int i = 0; i < ConfigurationState.MAX_NODES; i++) {
      assertThat(apply(new ConfigurationReport.RegisterNode(node(host(i), 1), 1)))
          .isEqualTo(Effect.CHANGED);
    }
    assertThat(apply(new ConfigurationReport.RegisterNode(node(host(-1), 1), 1)))
        .isEqualTo(Effect.FULL);
    assertThat(apply(new ConfigurationReport.RegisterNode(node(host(1), 2), 2)))
        .isEqualTo(Effect.CHANGED);
  }

  @Test
  void whenTheEntriesHaveTooManyBytesThenMoreAreRefused() {
    List<GroupInfo.Range> ranges = Collections.nCopies(10_000, new GroupInfo.Range(1, 2));
    int added = 0;
    while (apply(large(added, ranges)) == Effect.CHANGED) {
      added++;
    }
    assertThat(added).isBetween(90, 110);
    assertThat(apply(large(added, ranges))).isEqualTo(Effect.FULL);
    assertThat(apply(new ConfigurationReport.DeregisterGroup(group(0), state.version())))
        .isEqualTo(Effect.CHANGED);
    assertThat(apply(large(added, ranges))).isEqualTo(Effect.CHANGED);
  }

  private static ConfigurationReport large(int number, List<GroupInfo.Range> ranges) {
    GroupInfo group = new GroupInfo(group(number), "ks", 0, "BATCH", ranges, List.of(host(1)));
    return new ConfigurationReport.RegisterGroup(group, host(1), 1, 1);
  }

  @Test
  void whenTheHistoryIsFullThenTheOldestChangesAreForgottenAndThatIsSaid() {
    register(1, 1, 1);
    for (int term = 2; term <= ChangeHistory.MAX_CHANGES + 2; term++) {
      apply(new ConfigurationReport.NewLeader(group(1), host(term), term));
    }
    assertThat(state.forgottenUpTo()).isEqualTo(2);
    assertThat(state.changesAfter(1, Long.MAX_VALUE)).isEmpty();
    assertThat(state.changesAfter(2, Long.MAX_VALUE).orElseThrow())
        .hasSize(ChangeHistory.MAX_CHANGES);
    assertThat(state.changesAfter(2, 3 * Change.SMALL_BYTES).orElseThrow()).hasSize(3);
    assertThat(ConfigurationState.of(state.save()).save()).isEqualTo(state.save());
  }

  @Test
  void whenMoreEntriesWereRemovedThanAreRememberedThenTheOldestIsForgotten() {
    for (int i = 0; i <= ConfigurationState.MAX_REMOVED; i++) {
      register(i, 1, 1);
      apply(new ConfigurationReport.DeregisterGroup(group(i), state.version()));
    }
    assertThat(register(1, 1, 1)).isEqualTo(Effect.SUPERSEDED);
    assertThat(register(0, 1, 1)).isEqualTo(Effect.CHANGED);
  }

  @Test
  void whenChangesHaveAGapThenTheyAreNotApplied() {
    VersionedChange second = new VersionedChange(2, 0, new Change.NodeRemoved(new UUID(0, 0)));
    assertThatThrownBy(() -> Configuration.EMPTY.with(List.of(second)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void whenAReportIsTooLargeThenItIsNone() {
    assertThatThrownBy(() -> new NodeInfo(host(1), "a".repeat(256), "", "", ""))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(
            () -> new GroupInfo(group(1), "", 0, "", List.of(), Collections.nCopies(65, host(1))))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
