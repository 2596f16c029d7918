// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;
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

  /**
   * As {@link #encode}, piece by piece: what is handed over is the same byte string, cut. So no
   * more is in memory than a part and the largest update.
   *
   * @param partBytes how long a part is; the last one may be shorter
   * @param parts takes each of them in its order, and may wait
   */
  public static void encode(
      Collection<PartitionUpdate> updates, int partBytes, Consumer<byte[]> parts) {
    PartCutter cutter = new PartCutter(partBytes, parts);
    int version = MessagingService.current_version;
    cutter.add(
        ByteBuffer.allocate(2 * Integer.BYTES).putInt(version).putInt(updates.size()).flip());
    for (PartitionUpdate update : updates) {
      try (DataOutputBuffer out = new DataOutputBuffer(estimatedBytes(List.of(update)))) {
        out.writeInt(0);
        PartitionUpdate.serializer.serialize(update, out, version);
        ByteBuffer encoded = ByteBuffer.wrap(out.getData(), 0, out.getLength());
        encoded.putInt(0, out.getLength() - Integer.BYTES);
        cutter.add(encoded);
      } catch (IOException e) {
        throw new UncheckedIOException("a buffer in memory", e);
      }
    }
    cutter.end();
  }

  /** How many bytes {@link #encode} makes. */
  public static long encodedBytes(Collection<PartitionUpdate> updates) {
    long bytes = 2 * Integer.BYTES;
    for (PartitionUpdate update : updates) {
      bytes +=
          Integer.BYTES
              + PartitionUpdate.serializer.serializedSize(update, MessagingService.current_version);
    }
    return bytes;
  }

  /** Cuts a byte string into parts of one length. */
  private static final class PartCutter {
    private final Consumer<byte[]> parts;
    private final ByteBuffer part;

    PartCutter(int partBytes, Consumer<byte[]> parts) {
      this.parts = parts;
      this.part = ByteBuffer.allocate(partBytes);
    }

    void add(ByteBuffer some) {
      while (some.hasRemaining()) {
        int count = Math.min(some.remaining(), part.remaining());
        part.put(some.slice(some.position(), count));
        some.position(some.position() + count);
        if (!part.hasRemaining()) {
          end();
        }
      }
    }

    void end() {
      if (part.position() > 0) {
        parts.accept(Arrays.copyOf(part.array(), part.position()));
        part.clear();
      }
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
    return decode(List.of(writeSet));
  }

  /** As it was encoded, whole or in parts. */
  static Decoded decode(List<byte[]> parts) {
    PartReader in = new PartReader(parts);
    int version = in.takeInt();
    int count = in.takeInt();
    List<PartitionUpdate> updates = new ArrayList<>();
    List<String> unknownTables = new ArrayList<>();
    List<String> unknownColumns = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ByteBuffer one = in.take(in.takeInt());
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

  /** Reads a byte string that is cut into parts, without joining more than it must. */
  private static final class PartReader {
    private final Iterator<byte[]> parts;
    private ByteBuffer part = ByteBuffer.allocate(0);

    PartReader(List<byte[]> parts) {
      this.parts = parts.iterator();
    }

    int takeInt() {
      return take(Integer.BYTES).getInt();
    }

    ByteBuffer take(int bytes) {
      next();
      if (part.remaining() >= bytes) {
        return some(bytes);
      }
      ByteBuffer joined = ByteBuffer.allocate(bytes);
      while (joined.hasRemaining()) {
        next();
        joined.put(some(Math.min(joined.remaining(), part.remaining())));
      }
      return joined.flip();
    }

    private void next() {
      while (!part.hasRemaining() && parts.hasNext()) {
        part = ByteBuffer.wrap(parts.next());
      }
      if (!part.hasRemaining()) {
        throw new BufferUnderflowException();
      }
    }

    private ByteBuffer some(int bytes) {
      ByteBuffer some = part.slice(part.position(), bytes);
      part.position(part.position() + bytes);
      return some;
    }
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
