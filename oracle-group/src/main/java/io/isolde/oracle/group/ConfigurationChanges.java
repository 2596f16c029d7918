// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.configuration.ConfigurationState;
import io.isolde.oracle.configuration.VersionedChange;
import io.isolde.oracle.replica.Bytes;
import io.isolde.oracle.replica.ConfigurationCodec;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Changes of the configuration, the oldest first.
 *
 * @param version of the configuration when the answer was made
 * @param isWhole false if some of the changes that were asked for are forgotten: then it starts
 *     with the oldest that is known
 */
public record ConfigurationChanges(long version, boolean isWhole, List<VersionedChange> changes) {
  public ConfigurationChanges {
    changes = List.copyOf(changes);
  }

  static ConfigurationChanges of(ConfigurationState state, long after, long maxBytes) {
    long known = Math.max(after, state.forgottenUpTo());
    return new ConfigurationChanges(
        state.version(), known == after, state.changesAfter(known, maxBytes).orElseThrow());
  }

  /** Whether others follow these. */
  boolean isLast() {
    return changes.isEmpty() || lastVersion() == version;
  }

  long lastVersion() {
    return changes.get(changes.size() - 1).version();
  }

  ConfigurationChanges followedBy(ConfigurationChanges next) {
    List<VersionedChange> all = new ArrayList<>(next.isWhole ? changes : List.of());
    all.addAll(next.changes);
    return new ConfigurationChanges(next.version, isWhole && next.isWhole, all);
  }

  void encode(Bytes out) {
    out.putLong(version).put(isWhole ? 1 : 0);
    ConfigurationCodec.encodeChanges(changes, out);
  }

  static ConfigurationChanges read(ByteBuf in) {
    ByteBuffer bytes = Wire.rest(in);
    return new ConfigurationChanges(
        bytes.getLong(), bytes.get() != 0, ConfigurationCodec.changes(bytes));
  }
}
