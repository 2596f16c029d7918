// SPDX-License-Identifier: Apache-2.0
package io.isolde.conflict;

import io.isolde.version.ConflictUnit;
import java.nio.ByteBuffer;
import java.util.Set;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.PartitionPosition;
import org.apache.cassandra.db.marshal.AbstractType;
import org.apache.cassandra.db.marshal.AsciiType;
import org.apache.cassandra.db.marshal.ByteType;
import org.apache.cassandra.db.marshal.BytesType;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.ShortType;
import org.apache.cassandra.db.marshal.SimpleDateType;
import org.apache.cassandra.db.marshal.TimeType;
import org.apache.cassandra.db.marshal.TimeUUIDType;
import org.apache.cassandra.db.marshal.TimestampType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.marshal.UUIDType;
import org.apache.cassandra.dht.AbstractBounds;
import org.apache.cassandra.dht.Murmur3Partitioner.LongToken;
import org.apache.cassandra.dht.Token;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.apache.cassandra.utils.MurmurHash;
import org.apache.cassandra.utils.bytecomparable.ByteComparable;
import org.apache.cassandra.utils.bytecomparable.ByteSource;
import org.apache.cassandra.utils.bytecomparable.ByteSourceInverse;

/**
 * The 64-bit ids by which the oracle knows rows, and the coarser ids that stand for many rows. A
 * Critique of Snapshot Isolation, section 5.2, has them as "a compact, over-approximated
 * representation of the read set".
 *
 * <p>For a row in a partition in a token bucket there are:
 *
 * <ul>
 *   <li>its {@link #row} id: updated by writes of the row, checked by reads of just this row;
 *   <li>the {@link #partition} id: updated by every write in the partition, checked by reads of a
 *       slice;
 *   <li>the {@link #sweep} id: updated by deletions of a partition or of a range in it. It is
 *       checked by reads of any one row in it, and at snapshot isolation by writes of one. So two
 *       writes of two rows in one partition don't conflict, but both do with a deletion of the
 *       partition;
 *   <li>the {@link #rowSweep} id: updated by deletions of the row, and checked by writes of {@link
 *       #cell cells} of it, in tables whose conflicts are {@linkplain ConflictUnit#CELL by cell}.
 *       There a write updates and checks the ids of its cells, and updates that of the row;
 *   <li>the {@link #bucket} id: updated by every write, checked by reads of a token range;
 *   <li>the {@link #table} id: updated where a log says that the table was truncated, checked by
 *       watches of what it has;
 *   <li>the {@link #value} id of what an indexed column is set to, and the {@link #column} id of
 *       that column: updated by the write, checked by reads by an index.
 * </ul>
 */
public final class RowIds {
  /** A power of two. More: fewer false conflicts of range reads, more ids for a full scan. */
  static final int BUCKETS = 256;

  private static final int BUCKET_SHIFT = Long.SIZE - Integer.numberOfTrailingZeros(BUCKETS);

  private static final long ROW = 0x9E3779B97F4A7C15L;
  private static final long PARTITION = 0xC2B2AE3D27D4EB4FL;
  private static final long SWEEP = 0x165667B19E3779F9L;
  private static final long BUCKET = 0x27D4EB2F165667C5L;
  private static final long ROW_SWEEP = 0x94D049BB133111EBL;
  private static final long CELL = 0xBF58476D1CE4E5B9L;
  private static final long TABLE = 0xD6E8FEB86659FD93L;
  private static final long COLUMN = 0x85EBCA77C2B2AE63L;
  private static final long VALUE = 0xFF51AFD7ED558CCDL;

  /** Their values are equal if and only if their bytes are. */
  private static final Set<AbstractType<?>> PLAIN =
      Set.of(
          AsciiType.instance,
          ByteType.instance,
          BytesType.instance,
          Int32Type.instance,
          LongType.instance,
          ShortType.instance,
          SimpleDateType.instance,
          TimeType.instance,
          TimeUUIDType.instance,
          TimestampType.instance,
          UTF8Type.instance,
          UUIDType.instance);

  private static final ByteBuffer ABSENT = ByteBufferUtil.bytes("absent");

  private RowIds() {}

  public static long row(TableMetadata table, DecoratedKey key, Clustering<?> clustering) {
    long id = hash(key.getKey(), seed(table) ^ ROW);
    if (clustering == Clustering.STATIC_CLUSTERING) {
      return mix(id ^ PARTITION);
    }
    for (int i = 0; i < clustering.size(); i++) {
      id = hash(normal(table.comparator.subtype(i), clustering.bufferAt(i)), id);
    }
    return id;
  }

  /**
   * Stands for the deletion of a row.
   *
   * @param row its id
   */
  static long rowSweep(long row) {
    return mix(row ^ ROW_SWEEP);
  }

  /** Stands for the marker by which a row that was inserted is there without any value. */
  static long rowMarker(long row) {
    return mix(row ^ CELL);
  }

  /** Stands for what a row has in a column, be it one value or a collection. */
  static long cell(long row, ColumnMetadata column) {
    return hash(column.name.bytes, row ^ CELL);
  }

  /** Values that are equal in an order have equal bytes then: 1.1 and 1.10 are the same decimal. */
  private static ByteBuffer normal(AbstractType<?> type, ByteBuffer component) {
    if (component == null) {
      return ABSENT;
    }
    AbstractType<?> ascending = type.unwrap();
    if (ascending.isByteOrderComparable || ascending.valueLengthIfFixed() >= 0) {
      return component;
    }
    ByteSource ordered = ascending.asComparableBytes(component, ByteComparable.Version.OSS50);
    return ordered == null ? component : ByteBuffer.wrap(ByteSourceInverse.readBytes(ordered));
  }

  public static long partition(TableMetadata table, DecoratedKey key) {
    return hash(key.getKey(), seed(table) ^ PARTITION);
  }

  public static long sweep(TableMetadata table, DecoratedKey key) {
    return hash(key.getKey(), seed(table) ^ SWEEP);
  }

  /** Stands for all that a table has at a moment. */
  public static long table(TableId table) {
    return mix(seed(table) ^ TABLE);
  }

  /** Stands for all values of a column. */
  public static long column(TableMetadata table, ColumnMetadata column) {
    return hash(column.name.bytes, seed(table) ^ COLUMN);
  }

  /** Whether there are ids for the values of a column. */
  public static boolean hasValueIds(ColumnMetadata column) {
    return PLAIN.contains(column.type);
  }

  /** Stands for all rows that have one value in a column. */
  public static long value(TableMetadata table, ColumnMetadata column, ByteBuffer value) {
    return hash(value, column(table, column) ^ VALUE);
  }

  static long bucket(TableMetadata table, DecoratedKey key) {
    return bucket(table, bucketOf(key.getToken()));
  }

  private static long bucket(TableMetadata table, int bucket) {
    return mix(seed(table) ^ BUCKET ^ mix(bucket));
  }

  /** The ids of all buckets that a range of partitions touches. */
  public static long[] buckets(TableMetadata table, AbstractBounds<PartitionPosition> range) {
    int first = range.left.isMinimum() ? 0 : bucketOf(range.left.getToken());
    int last = range.right.isMinimum() ? BUCKETS - 1 : bucketOf(range.right.getToken());
    assert first <= last : "a range read does not wrap around: " + range;
    long[] ids = new long[last - first + 1];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = bucket(table, first + i);
    }
    return ids;
  }

  /** In the order of tokens. All tokens of a partitioner other than Murmur3 share one bucket. */
  private static int bucketOf(Token token) {
    return token instanceof LongToken
        ? (int) ((token.getLongValue() ^ Long.MIN_VALUE) >>> BUCKET_SHIFT)
        : 0;
  }

  private static long seed(TableMetadata table) {
    return seed(table.id);
  }

  private static long seed(TableId table) {
    return table.asUUID().getMostSignificantBits() ^ table.asUUID().getLeastSignificantBits();
  }

  /**
   * Cassandra's hash takes 32 bits of a seed. They are the same for tables that one node makes
   * within minutes: equal keys of these would be one row.
   */
  private static long hash(ByteBuffer bytes, long seed) {
    return mix(mix(seed) ^ MurmurHash.hash2_64(bytes, bytes.position(), bytes.remaining(), 0));
  }

  /** The finalizer of MurmurHash3. */
  private static long mix(long value) {
    long mixed = (value ^ (value >>> 33)) * 0xFF51AFD7ED558CCDL;
    mixed = (mixed ^ (mixed >>> 33)) * 0xC4CEB9FE1A85EC53L;
    return mixed ^ (mixed >>> 33);
  }
}
