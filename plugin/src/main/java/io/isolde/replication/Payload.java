// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.apply.SerializedUpdate;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.exceptions.UnknownColumnException;
import org.apache.cassandra.exceptions.UnknownTableException;
import org.apache.cassandra.io.util.DataInputBuffer;
import org.apache.cassandra.io.util.DataOutputBuffer;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.schema.TableId;

/**
 * A write as the log keeps it. Either updates of partitions, each on its own, so that one whose
 * table was dropped does not take the others with it; or the truncation of a table; or what comes
 * before that.
 */
final class Payload {
  /** What a payload takes beside one update for each table. */
  static final int HEADER_BYTES = 1 << 10;

  /** In the place of the tag of {@link Timestamps}. */
  private static final int TRUNCATION = 3;

  private static final int HOLD = 4;

  private Payload() {}

  /** What a write in the log does. */
  sealed interface Content permits Updates, Truncation, Hold {}

  /**
   * Removes what a table has with timestamps up to one: all that the group's log has of it before.
   * What comes later in the log has newer timestamps.
   */
  record Truncation(TableId table, long upToMicros) implements Content {}

  /**
   * From here on the log refuses what was decided on by what a table has, up to the table's next
   * truncation: that is about to remove it.
   *
   * @param untilMicros for so long at most, by the clocks of leaders, in case that no truncation
   *     comes; 0 if none will come
   */
  record Hold(TableId table, long untilMicros) implements Content {}

  /** Where the timestamps of updates come from, and so the places of the elements of lists. */
  enum Timestamps {
    /** The log. */
    OF_THE_LOG(0),
    /** The log; but the elements of lists are where they belong, as the list was read before. */
    OF_THE_LOG_BUT_PLACED(1),
    /** The updates have those of a transaction's commit. */
    OF_A_COMMIT(2);

    private final int tag;

    Timestamps(int tag) {
      this.tag = tag;
    }

    static Timestamps of(int tag) {
      for (Timestamps each : values()) {
        if (each.tag == tag) {
          return each;
        }
      }
      throw new IllegalArgumentException("A write in the log has the unknown tag " + tag + ".");
    }
  }

  /**
   * Updates of partitions.
   *
   * @param newestMicros of the updates, if they are of a commit; else 0
   */
  record Updates(Collection<PartitionUpdate> updates, Timestamps timestamps, long newestMicros)
      implements Content {
    Updates(Collection<PartitionUpdate> updates, Timestamps timestamps) {
      this(updates, timestamps, 0);
      assert timestamps != Timestamps.OF_A_COMMIT;
    }

    /** What a commit writes to a partition. */
    static Updates of(Mutation commit) {
      Collection<PartitionUpdate> updates = commit.getPartitionUpdates();
      long newest = updates.stream().mapToLong(PartitionUpdate::maxTimestamp).max().orElseThrow();
      return new Updates(updates, Timestamps.OF_A_COMMIT, newest);
    }
  }

  static byte[] encode(Truncation truncation) {
    return encode(TRUNCATION, truncation.table(), truncation.upToMicros());
  }

  static byte[] encode(Hold hold) {
    return encode(HOLD, hold.table(), hold.untilMicros());
  }

  private static byte[] encode(int tag, TableId table, long micros) {
    try (DataOutputBuffer out = new DataOutputBuffer()) {
      out.writeInt(MessagingService.current_version);
      out.writeByte(tag);
      table.serialize(out);
      out.writeLong(micros);
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static byte[] encode(Updates made) {
    Collection<PartitionUpdate> updates = made.updates();
    try (DataOutputBuffer out = new DataOutputBuffer();
        DataOutputBuffer one = new DataOutputBuffer()) {
      out.writeInt(MessagingService.current_version);
      out.writeByte(made.timestamps().tag);
      if (made.timestamps() == Timestamps.OF_A_COMMIT) {
        out.writeLong(made.newestMicros());
      }
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

    /** Whether it is a table that is not known; else a column is not. */
    boolean isOfTable() {
      return getCause() instanceof UnknownTableException;
    }
  }

  /**
   * Reads a write.
   *
   * @param isKeyspaceGone whether to leave out all that this node does not know
   * @param areUnknownGone whether to leave out what is of tables that this node does not know,
   *     because they are no more; not so columns: Cassandra knows those that were dropped
   * @param gone the tables that are known to be no more; those that are left out come to them
   */
  static Content decode(
      byte[] bytes, boolean isKeyspaceGone, boolean areUnknownGone, Set<TableId> gone)
      throws UnknownSchemaException {
    try (DataInputBuffer in = new DataInputBuffer(bytes)) {
      int version = in.readInt();
      int tag = in.readByte();
      if (tag == TRUNCATION) {
        return new Truncation(TableId.deserialize(in), in.readLong());
      }
      if (tag == HOLD) {
        return new Hold(TableId.deserialize(in), in.readLong());
      }
      Timestamps timestamps = Timestamps.of(tag);
      long newestMicros = timestamps == Timestamps.OF_A_COMMIT ? in.readLong() : 0;
      int count = in.readInt();
      List<PartitionUpdate> updates = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        byte[] one = new byte[in.readInt()];
        in.readFully(one);
        try (DataInputBuffer update = new DataInputBuffer(one)) {
          updates.add(SerializedUpdate.read(update, version));
        } catch (UnknownTableException e) {
          if (!isKeyspaceGone && !areUnknownGone && !gone.contains(e.id)) {
            throw new UnknownSchemaException(e);
          }
          gone.add(e.id);
        } catch (UnknownColumnException e) {
          if (!isKeyspaceGone) {
            throw new UnknownSchemaException(e);
          }
        }
      }
      return new Updates(updates, timestamps, newestMicros);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The tables that the updates of a write are of, whether this node knows them or not. */
  static Set<TableId> tables(byte[] bytes) {
    Set<TableId> tables = new HashSet<>();
    try (DataInputBuffer in = new DataInputBuffer(bytes)) {
      var unusedVersion = in.readInt();
      int tag = in.readByte();
      if (tag == TRUNCATION || tag == HOLD) {
        return tables;
      }
      if (Timestamps.of(tag) == Timestamps.OF_A_COMMIT) {
        var unusedMicros = in.readLong();
      }
      for (int left = in.readInt(); left > 0; left--) {
        byte[] one = new byte[in.readInt()];
        in.readFully(one);
        try (DataInputBuffer update = new DataInputBuffer(one)) {
          tables.add(TableId.deserialize(update)); // Cassandra writes it first.
        }
      }
      return tables;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
