// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.configuration;

import java.util.Comparator;
import java.util.TreeMap;
import java.util.UUID;

/** The nodes and groups of one version. In an order that is the same on all replicas. */
final class Entries {
  private static final Comparator<UUID> ORDER = Comparator.naturalOrder();

  final TreeMap<UUID, ConfiguredNode> nodes = new TreeMap<>(ORDER);
  final TreeMap<UUID, ConfiguredGroup> groups = new TreeMap<>(ORDER);

  /** Of all entries. */
  private long bytes;

  void add(ConfiguredNode node) {
    ConfiguredNode before = nodes.put(node.info().host(), node);
    bytes += node.info().bytes() - (before == null ? 0 : before.info().bytes());
  }

  void add(ConfiguredGroup group) {
    ConfiguredGroup before = groups.put(group.info().id(), group);
    bytes += group.info().bytes() - (before == null ? 0 : before.info().bytes());
  }

  long bytes() {
    return bytes;
  }

  void apply(VersionedChange versioned) {
    long version = versioned.version();
    Change change = versioned.change();
    if (change instanceof Change.NodeRegistered registered) {
      add(new ConfiguredNode(registered.node(), registered.isUp(), version));
    } else if (change instanceof Change.NodeLiveness liveness) {
      ConfiguredNode node = nodes.get(liveness.host());
      add(new ConfiguredNode(node.info(), liveness.isUp(), version));
    } else if (change instanceof Change.NodeRemoved removed) {
      bytes -= nodes.remove(removed.host()).info().bytes();
    } else if (change instanceof Change.GroupRegistered registered) {
      add(new ConfiguredGroup(registered.group(), registered.leader(), registered.term(), version));
    } else if (change instanceof Change.LeaderChanged led) {
      ConfiguredGroup group = groups.get(led.group());
      add(new ConfiguredGroup(group.info(), led.leader(), led.term(), version));
    } else if (change instanceof Change.GroupRemoved removed) {
      bytes -= groups.remove(removed.group()).info().bytes();
    }
  }
}
