// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.configuration.Configuration;
import io.isolde.oracle.configuration.ConfigurationState;
import io.isolde.oracle.replica.Bytes;
import io.isolde.oracle.replica.ConfigurationCodec;
import io.isolde.oracle.replica.OracleReplica;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/**
 * Asks for a part of the configuration, or of its history.
 *
 * @param isOfChanges whether it asks for the history
 * @param atLeast the version that whoever answers must have; {@link #NEWEST} if it must lead
 * @param from how many entries came with the pages before; of the history, the version after which
 *     it asks
 */
record ConfigurationQuestion(boolean isOfChanges, long atLeast, long from) {
  /** A moment after the question was asked. */
  static final long NEWEST = -1;

  /** Of the entries or changes of one answer, but for a first one that is larger. */
  private static final long MAX_PAGE_BYTES = 256 << 10;

  boolean isForLeader() {
    return atLeast == NEWEST;
  }

  ByteBuf writeTo(ByteBuf out) {
    return out.writeBoolean(isOfChanges).writeLong(atLeast).writeLong(from);
  }

  static ConfigurationQuestion read(ByteBuf in) {
    return new ConfigurationQuestion(in.readBoolean(), in.readLong(), in.readLong());
  }

  /**
   * What a replica takes out of its state for the answer; encoded later, without the lock. Null if
   * it does not have the version yet.
   */
  Consumer<Bytes> look(OracleReplica replica) {
    ConfigurationState state = replica.configuration();
    if (state.version() < atLeast) {
      return null;
    }
    if (isOfChanges) {
      ConfigurationChanges changes = ConfigurationChanges.of(state, from, MAX_PAGE_BYTES);
      return changes::encode;
    }
    ConfigurationPage page =
        new ConfigurationPage(state.size(), state.page((int) from, MAX_PAGE_BYTES));
    return page::encode;
  }

  /** A part of the configuration of one version, which has so many entries in all. */
  record ConfigurationPage(int size, Configuration part) {
    void encode(Bytes out) {
      out.putInt(size);
      ConfigurationCodec.encode(part, out);
    }

    static ConfigurationPage read(ByteBuf in) {
      ByteBuffer bytes = Wire.rest(in);
      return new ConfigurationPage(bytes.getInt(), ConfigurationCodec.configuration(bytes));
    }

    int entries() {
      return part.nodes().size() + part.groups().size();
    }
  }
}
