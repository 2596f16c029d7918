// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.exceptions.UnknownColumnException;
import org.apache.cassandra.exceptions.UnknownTableException;
import org.apache.cassandra.io.util.DataInputBuffer;
import org.apache.cassandra.io.util.DataOutputBuffer;
import org.apache.cassandra.net.MessagingService;

/**
 * Writes that are not stamped yet as bytes, in Cassandra's own format, for whoever finishes a
 * commit that its coordinator can't.
 */
public final class WriteSetCodec {
  private static final long MAX_ESTIMATED_BYTES = 16 << 20;

  private WriteSetCodec() {}

  public static byte[] encode(Collection<PartitionUpdate> updates) {
    int version = MessagingService.current_version;
    try (DataOutputBuffer out = new DataOutputBuffer(estimatedBytes(updates))) {
      out.writeInt(version);
      out.writeInt(updates.size());
      for (PartitionUpdate update : updates) {
        int start = out.getLength();
        out.writeInt(0);
        PartitionUpdate.serializer.serialize(update, out, version);
        int length = out.getLength() - start - Integer.BYTES;
        ByteBuffer.wrap(out.getData()).putInt(start, length);
      }
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException("a buffer in memory", e);
    }
  }

  /** Growing the buffer step by step would copy large values several times. */
  private static int estimatedBytes(Collection<PartitionUpdate> updates) {
    long dataBytes = updates.stream().mapToLong(PartitionUpdate::dataSize).sum();
    return (int) Math.min(MAX_ESTIMATED_BYTES, dataBytes + dataBytes / 8 + 256L * updates.size());
  }

  /**
   * What a write set holds.
   *
   * @param updates those of tables and columns that this node has heard of
   * @param unknownTables dropped since, or not heard of yet
   * @param unknownColumns not heard of yet: dropped ones are remembered
   */
  record Decoded(
      List<PartitionUpdate> updates, List<String> unknownTables, List<String> unknownColumns) {}

  static Decoded decode(byte[] writeSet) {
    ByteBuffer in = ByteBuffer.wrap(writeSet);
    int version = in.getInt();
    int count = in.getInt();
    List<PartitionUpdate> updates = new ArrayList<>();
    List<String> unknownTables = new ArrayList<>();
    List<String> unknownColumns = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ByteBuffer one = in.slice(in.position() + Integer.BYTES, in.getInt());
      in.position(in.position() + one.remaining());
      try {
        updates.add(decode(one, version));
      } catch (UnknownTableException e) {
        unknownTables.add(e.getMessage());
      } catch (UnknownColumnException e) {
        unknownColumns.add(e.getMessage());
      }
    }
    return new Decoded(updates, unknownTables, unknownColumns);
  }

  private static PartitionUpdate decode(ByteBuffer one, int version)
      throws UnknownTableException, UnknownColumnException {
    try (DataInputBuffer in = new DataInputBuffer(one, false)) {
      return SerializedUpdate.read(in, version);
    } catch (UnknownTableException | UnknownColumnException e) {
      throw e;
    } catch (IOException e) {
      throw new UncheckedIOException("A write set can't be read.", e);
    }
  }
}
