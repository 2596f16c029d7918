// SPDX-License-Identifier: Apache-2.0
package io.isolde.configuration;

import io.isolde.oracle.configuration.Configuration;
import io.isolde.oracle.configuration.ConfigurationReport;
import io.isolde.oracle.configuration.ConfiguredGroup;
import io.isolde.oracle.configuration.ConfiguredNode;
import io.isolde.oracle.configuration.GroupInfo;
import io.isolde.oracle.configuration.NodeInfo;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/** What a node has to report: how what it sees differs from the configuration. */
final class Differences {
  private final Configuration configuration;
  private final Map<UUID, ConfiguredGroup> groups = new HashMap<>();

  Differences(Configuration configuration) {
    this.configuration = configuration;
    configuration.groups().forEach(group -> groups.put(group.info().id(), group));
  }

  /** What this node says of itself, if that is not known. */
  Optional<ConfigurationReport> ofNode(NodeInfo self, LongSupplier generation) {
    return configuration.node(self.host()).filter(node -> node.info().equals(self)).isPresent()
        ? Optional.empty()
        : Optional.of(new ConfigurationReport.RegisterNode(self, generation.getAsLong()));
  }

  /**
   * What this node says of groups that it leads.
   *
   * @param terms by group
   * @param info empty if the keyspace is dropped meanwhile
   */
  List<ConfigurationReport> ofGroups(
      UUID self,
      Map<UUID, Long> terms,
      Function<UUID, Optional<GroupInfo>> info,
      LongSupplier generation) {
    List<ConfigurationReport> reports = new ArrayList<>();
    terms.forEach(
        (id, term) ->
            info.apply(id)
                .flatMap(group -> ofGroup(self, term, group, generation))
                .ifPresent(reports::add));
    return reports;
  }

  private Optional<ConfigurationReport> ofGroup(
      UUID self, long term, GroupInfo group, LongSupplier generation) {
    ConfiguredGroup known = groups.get(group.id());
    if (known == null || (!known.info().equals(group) && known.term() <= term)) {
      return Optional.of(
          new ConfigurationReport.RegisterGroup(group, self, term, generation.getAsLong()));
    }
    return known.term() < term
        ? Optional.of(new ConfigurationReport.NewLeader(group.id(), self, term))
        : Optional.empty();
  }

  /** The nodes and groups that are registered, and of which this node does not know. */
  Set<UUID> missing(Predicate<UUID> isMember, Set<UUID> knownGroups) {
    Set<UUID> missing = new HashSet<>();
    for (ConfiguredNode node : configuration.nodes()) {
      if (!isMember.test(node.info().host())) {
        missing.add(node.info().host());
      }
    }
    for (ConfiguredGroup group : configuration.groups()) {
      if (!knownGroups.contains(group.info().id())) {
        missing.add(group.info().id());
      }
    }
    return missing;
  }

  /** That these are gone. */
  List<ConfigurationReport> ofGone(Set<UUID> gone) {
    long version = configuration.version();
    List<ConfigurationReport> reports = new ArrayList<>();
    for (UUID id : gone) {
      reports.add(
          groups.containsKey(id)
              ? new ConfigurationReport.DeregisterGroup(id, version)
              : new ConfigurationReport.DeregisterNode(id, version));
    }
    return reports;
  }
}
