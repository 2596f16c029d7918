// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import io.isolde.oracle.configuration.Change;
import io.isolde.oracle.configuration.Configuration;
import io.isolde.oracle.configuration.ConfigurationState;
import io.isolde.oracle.configuration.ConfiguredGroup;
import io.isolde.oracle.configuration.ConfiguredNode;
import io.isolde.oracle.configuration.VersionedChange;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** The configuration as bytes, on the wire and saved. Numbers of kinds are never given twice. */
public final class ConfigurationCodec {
  private static final byte NODE_REGISTERED = 1;
  private static final byte NODE_LIVENESS = 2;
  private static final byte NODE_REMOVED = 3;
  private static final byte GROUP_REGISTERED = 4;
  private static final byte LEADER_CHANGED = 5;
  private static final byte GROUP_REMOVED = 6;

  private ConfigurationCodec() {}

  static void encode(ConfigurationState.Saved saved, Bytes out) {
    encode(saved.configuration(), out);
    out.putLong(saved.forgottenUpTo());
    encodeChanges(saved.changes(), out);
    encodeAll(saved.ages(), ConfigurationCodec::encode, out);
    encodeAll(saved.removed(), ConfigurationCodec::encode, out);
  }

  static ConfigurationState.Saved decode(ByteBuffer in) {
    return new ConfigurationState.Saved(
        configuration(in),
        in.getLong(),
        changes(in),
        decodeAll(in, ConfigurationCodec::seen),
        decodeAll(in, ConfigurationCodec::seen));
  }

  private static void encode(ConfigurationState.Saved.Seen seen, Bytes out) {
    out.putId(seen.id()).putLong(seen.term()).putLong(seen.generation());
  }

  private static ConfigurationState.Saved.Seen seen(ByteBuffer in) {
    return new ConfigurationState.Saved.Seen(Bytes.id(in), in.getLong(), in.getLong());
  }

  /** A configuration, or a part of one. */
  public static void encode(Configuration configuration, Bytes out) {
    out.putLong(configuration.version());
    encodeAll(configuration.nodes(), ConfigurationCodec::encode, out);
    encodeAll(configuration.groups(), ConfigurationCodec::encode, out);
  }

  /**
   * What {@link #encode(Configuration, Bytes)} has written.
   *
   * @throws IllegalArgumentException if that is none
   * @throws java.nio.BufferUnderflowException if it ends too early
   */
  public static Configuration configuration(ByteBuffer in) {
    return new Configuration(
        in.getLong(),
        decodeAll(in, ConfigurationCodec::node),
        decodeAll(in, ConfigurationCodec::group));
  }

  private static void encode(ConfiguredNode node, Bytes out) {
    ReportCodec.encode(node.info(), out);
    out.put(node.isUp() ? 1 : 0).putLong(node.version());
  }

  private static ConfiguredNode node(ByteBuffer in) {
    return new ConfiguredNode(ReportCodec.node(in), in.get() != 0, in.getLong());
  }

  private static void encode(ConfiguredGroup group, Bytes out) {
    ReportCodec.encode(group.info(), out);
    out.putId(group.leader()).putLong(group.term()).putLong(group.version());
  }

  private static ConfiguredGroup group(ByteBuffer in) {
    return new ConfiguredGroup(ReportCodec.group(in), Bytes.id(in), in.getLong(), in.getLong());
  }

  public static void encodeChanges(List<VersionedChange> changes, Bytes out) {
    encodeAll(changes, ConfigurationCodec::encode, out);
  }

  /**
   * What {@link #encodeChanges} has written.
   *
   * @throws IllegalArgumentException if that is none
   * @throws java.nio.BufferUnderflowException if it ends too early
   */
  public static List<VersionedChange> changes(ByteBuffer in) {
    return decodeAll(in, ConfigurationCodec::change);
  }

  private static void encode(VersionedChange versioned, Bytes out) {
    out.putLong(versioned.version()).putLong(versioned.timeMicros());
    Change change = versioned.change();
    if (change instanceof Change.NodeRegistered node) {
      ReportCodec.encode(node.node(), out.put(NODE_REGISTERED));
      out.put(node.isUp() ? 1 : 0);
    } else if (change instanceof Change.NodeLiveness liveness) {
      out.put(NODE_LIVENESS).putId(liveness.host()).put(liveness.isUp() ? 1 : 0);
    } else if (change instanceof Change.NodeRemoved removed) {
      out.put(NODE_REMOVED).putId(removed.host());
    } else if (change instanceof Change.GroupRegistered group) {
      ReportCodec.encode(group.group(), out.put(GROUP_REGISTERED));
      out.putId(group.leader()).putLong(group.term());
    } else if (change instanceof Change.LeaderChanged led) {
      out.put(LEADER_CHANGED).putId(led.group()).putId(led.leader()).putLong(led.term());
    } else if (change instanceof Change.GroupRemoved removed) {
      out.put(GROUP_REMOVED).putId(removed.group());
    }
  }

  private static VersionedChange change(ByteBuffer in) {
    long version = in.getLong();
    long timeMicros = in.getLong();
    byte kind = in.get();
    return new VersionedChange(
        version,
        timeMicros,
        switch (kind) {
          case NODE_REGISTERED -> new Change.NodeRegistered(ReportCodec.node(in), in.get() != 0);
          case NODE_LIVENESS -> new Change.NodeLiveness(Bytes.id(in), in.get() != 0);
          case NODE_REMOVED -> new Change.NodeRemoved(Bytes.id(in));
          case GROUP_REGISTERED ->
              new Change.GroupRegistered(ReportCodec.group(in), Bytes.id(in), in.getLong());
          case LEADER_CHANGED -> new Change.LeaderChanged(Bytes.id(in), Bytes.id(in), in.getLong());
          case GROUP_REMOVED -> new Change.GroupRemoved(Bytes.id(in));
          default -> throw new IllegalArgumentException("There is no change of kind " + kind + ".");
        });
  }

  private static <T> void encodeAll(List<T> all, BiConsumer<T, Bytes> encode, Bytes out) {
    out.putInt(all.size());
    all.forEach(one -> encode.accept(one, out));
  }

  private static <T> List<T> decodeAll(ByteBuffer in, Function<ByteBuffer, T> decode) {
    List<T> all = new ArrayList<>();
    for (int left = ReportCodec.count(in, 1); left > 0; left--) {
      all.add(decode.apply(in));
    }
    return all;
  }
}
