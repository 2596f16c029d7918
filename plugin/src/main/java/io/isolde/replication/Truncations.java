// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.schema.TableId;

/**
 * Up to where the tables of a group are truncated, as far as the group's log has been applied. Not
 * thread-safe.
 */
final class Truncations {
  private static final byte VERSION = 1;

  /** Of more tables the first are forgotten: most are dropped by then. */
  static final int MAX_TABLES = 1_024;

  /** Microseconds; in the order in which they came. */
  private final Map<TableId, Long> upTo = new LinkedHashMap<>();

  /** Whether a table was truncated as far before. */
  boolean reach(TableId table, long upToMicros) {
    Long before = upTo.get(table);
    return before != null && before >= upToMicros;
  }

  /** A table is truncated. */
  void add(TableId table, long upToMicros) {
    upTo.remove(table);
    upTo.put(table, upToMicros);
    if (upTo.size() > MAX_TABLES) {
      upTo.remove(upTo.keySet().iterator().next());
    }
  }

  /** Whether all of an update was truncated before it came. */
  boolean cover(PartitionUpdate update) {
    Long micros = upTo.get(update.metadata().id);
    return micros != null && update.maxTimestamp() <= micros;
  }

  void forEach(BiConsumer<TableId, Long> action) {
    upTo.forEach(action);
  }

  byte[] save() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      out.writeInt(upTo.size());
      for (Map.Entry<TableId, Long> entry : upTo.entrySet()) {
        entry.getKey().serialize(out);
        out.writeLong(entry.getValue());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /**
   * Forgets all, and goes on from what was saved.
   *
   * @param saved empty if it comes from a build that had no truncations
   */
  void restore(byte[] saved) throws IOException {
    upTo.clear();
    if (saved.length == 0) {
      return;
    }
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(saved));
    byte version = in.readByte();
    if (version != VERSION) {
      throw new IOException("The truncations have version " + version + ", not " + VERSION + ".");
    }
    for (int left = in.readInt(); left > 0; left--) {
      add(TableId.deserialize(in), in.readLong());
    }
  }
}
