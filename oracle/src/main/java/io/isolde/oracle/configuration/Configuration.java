// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.configuration;

import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * The ring and the replica groups at one version. Immutable.
 *
 * @param version grows by one with each change
 * @param nodes in the order of their host ids
 * @param groups in the order of their ids
 */
public record Configuration(
    long version, List<ConfiguredNode> nodes, List<ConfiguredGroup> groups) {
  /** Before the first change. */
  public static final Configuration EMPTY = new Configuration(0, List.of(), List.of());

  public Configuration {
    nodes = List.copyOf(nodes);
    groups = List.copyOf(groups);
  }

  public Optional<ConfiguredNode> node(UUID host) {
    return nodes.stream().filter(node -> node.info().host().equals(host)).findFirst();
  }

  public Optional<ConfiguredGroup> group(UUID id) {
    return groups.stream().filter(group -> group.info().id().equals(id)).findFirst();
  }

  /** Whether the leader of a group can be asked. */
  public ConfiguredGroup.State stateOf(ConfiguredGroup group) {
    return ConfiguredGroup.stateWith(node(group.leader()).orElse(null));
  }

  /**
   * The configuration after some changes.
   *
   * @param changes the ones that follow this version, without a gap
   * @throws IllegalArgumentException if there is a gap
   */
  public Configuration with(List<VersionedChange> changes) {
    if (changes.isEmpty()) {
      return this;
    }
    Entries entries = new Entries();
    nodes.forEach(entries::add);
    groups.forEach(entries::add);
    long last = version;
    for (VersionedChange change : changes) {
      if (change.version() != last + 1) {
        throw new IllegalArgumentException(
            "Version " + change.version() + " does not follow " + last + ".");
      }
      entries.apply(change);
      last = change.version();
    }
    return new Configuration(
        last, List.copyOf(entries.nodes.values()), List.copyOf(entries.groups.values()));
  }
}
