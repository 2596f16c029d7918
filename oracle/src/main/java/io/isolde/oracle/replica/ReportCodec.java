// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import io.isolde.oracle.configuration.ConfigurationReport;
import io.isolde.oracle.configuration.GroupInfo;
import io.isolde.oracle.configuration.NodeInfo;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Reports to the configuration manager as bytes. Numbers of kinds are never given twice. */
final class ReportCodec {
  private static final byte REGISTER_NODE = 1;
  private static final byte DEREGISTER_NODE = 2;
  private static final byte REGISTER_GROUP = 3;
  private static final byte NEW_LEADER = 4;
  private static final byte DEREGISTER_GROUP = 5;
  private static final int ID_BYTES = 16;

  private ReportCodec() {}

  static void encode(ConfigurationReport report, Bytes out) {
    if (report instanceof ConfigurationReport.RegisterNode node) {
      encode(node.node(), out.put(REGISTER_NODE));
      out.putLong(node.generation());
    } else if (report instanceof ConfigurationReport.DeregisterNode node) {
      out.put(DEREGISTER_NODE).putId(node.host()).putLong(node.version());
    } else if (report instanceof ConfigurationReport.RegisterGroup group) {
      encode(group.group(), out.put(REGISTER_GROUP));
      out.putId(group.leader()).putLong(group.term()).putLong(group.generation());
    } else if (report instanceof ConfigurationReport.NewLeader leader) {
      out.put(NEW_LEADER).putId(leader.group()).putId(leader.leader()).putLong(leader.term());
    } else if (report instanceof ConfigurationReport.DeregisterGroup group) {
      out.put(DEREGISTER_GROUP).putId(group.group()).putLong(group.version());
    }
  }

  static ConfigurationReport decode(ByteBuffer in) {
    byte kind = in.get();
    return switch (kind) {
      case REGISTER_NODE -> new ConfigurationReport.RegisterNode(node(in), in.getLong());
      case DEREGISTER_NODE -> new ConfigurationReport.DeregisterNode(Bytes.id(in), in.getLong());
      case REGISTER_GROUP ->
          new ConfigurationReport.RegisterGroup(
              group(in), Bytes.id(in), in.getLong(), in.getLong());
      case NEW_LEADER ->
          new ConfigurationReport.NewLeader(Bytes.id(in), Bytes.id(in), in.getLong());
      case DEREGISTER_GROUP -> new ConfigurationReport.DeregisterGroup(Bytes.id(in), in.getLong());
      default -> throw new IllegalArgumentException("There is no report of kind " + kind + ".");
    };
  }

  static void encode(NodeInfo node, Bytes out) {
    out.putId(node.host())
        .putText(node.address())
        .putText(node.cqlAddress())
        .putText(node.datacenter())
        .putText(node.rack());
  }

  static NodeInfo node(ByteBuffer in) {
    return new NodeInfo(
        Bytes.id(in), Bytes.text(in), Bytes.text(in), Bytes.text(in), Bytes.text(in));
  }

  static void encode(GroupInfo group, Bytes out) {
    out.putId(group.id())
        .putText(group.keyspace())
        .putInt(group.number())
        .putText(group.durability())
        .putInt(group.ranges().size());
    group.ranges().forEach(range -> out.putLong(range.start()).putLong(range.end()));
    out.putInt(group.members().size());
    group.members().forEach(out::putId);
  }

  static GroupInfo group(ByteBuffer in) {
    UUID id = Bytes.id(in);
    String keyspace = Bytes.text(in);
    int number = in.getInt();
    String durability = Bytes.text(in);
    List<GroupInfo.Range> ranges = new ArrayList<>();
    for (int left = count(in, GroupInfo.Range.BYTES); left > 0; left--) {
      ranges.add(new GroupInfo.Range(in.getLong(), in.getLong()));
    }
    List<UUID> members = new ArrayList<>();
    for (int left = count(in, ID_BYTES); left > 0; left--) {
      members.add(Bytes.id(in));
    }
    return new GroupInfo(id, keyspace, number, durability, ranges, members);
  }

  /** How many things follow; a damaged number must not take memory. */
  static int count(ByteBuffer in, int bytesOfOne) {
    int count = in.getInt();
    if (count < 0 || count > in.remaining() / bytesOfOne) {
      throw new IllegalArgumentException("A message has a list of " + count + " things in it.");
    }
    return count;
  }
}
