// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.DeserializationHelper;
import org.apache.cassandra.exceptions.UnknownColumnException;
import org.apache.cassandra.exceptions.UnknownTableException;
import org.apache.cassandra.io.util.DataInputBuffer;
import org.apache.cassandra.io.util.DataOutputBuffer;
import org.apache.cassandra.net.MessagingService;

/**
 * A write as the log keeps it: updates of partitions, each on its own, so that one whose table was
 * dropped does not take the others with it.
 */
final class Payload {
  private Payload() {}

  /**
   * Updates without a timestamp.
   *
   * @param isPlaced whether the elements of lists have the places where they belong, as they have
   *     when the list was read before; else they come to be where the timestamp puts them
   */
  record Updates(Collection<PartitionUpdate> updates, boolean isPlaced) {}

  static byte[] encode(Updates made) {
    Collection<PartitionUpdate> updates = made.updates();
    try (DataOutputBuffer out = new DataOutputBuffer();
        DataOutputBuffer one = new DataOutputBuffer()) {
      out.writeInt(MessagingService.current_version);
      out.writeBoolean(made.isPlaced());
      out.writeInt(updates.size());
      for (PartitionUpdate update : updates) {
        one.clear();
        PartitionUpdate.serializer.serialize(update, one, MessagingService.current_version);
        out.writeInt(one.getLength());
        out.write(one.getData(), 0, one.getLength());
      }
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What the schema of this node must know before the rest can be read. */
  static final class UnknownSchemaException extends Exception {
    private static final long serialVersionUID = 1L;

    UnknownSchemaException(Exception cause) {
      super(cause.getMessage(), cause);
    }
  }

  /**
   * Reads the updates.
   *
   * @param skipUnknown whether to leave out those of tables and columns that are no more
   */
  static Updates decode(byte[] bytes, boolean skipUnknown) throws UnknownSchemaException {
    try (DataInputBuffer in = new DataInputBuffer(bytes)) {
      int version = in.readInt();
      boolean isPlaced = in.readBoolean();
      int count = in.readInt();
      List<PartitionUpdate> updates = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        byte[] one = new byte[in.readInt()];
        in.readFully(one);
        try (DataInputBuffer update = new DataInputBuffer(one)) {
          updates.add(
              PartitionUpdate.serializer.deserialize(
                  update, version, DeserializationHelper.Flag.FROM_REMOTE));
        } catch (UnknownTableException | UnknownColumnException e) {
          if (!skipUnknown) {
            throw new UnknownSchemaException(e);
          }
        }
      }
      return new Updates(updates, isPlaced);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
