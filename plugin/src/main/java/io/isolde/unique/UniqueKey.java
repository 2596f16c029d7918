// SPDX-License-Identifier: Apache-2.0
package io.isolde.unique;

import com.google.common.base.Splitter;
import com.google.common.collect.Lists;
import com.google.common.collect.MapMaker;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.Collectors;
import org.apache.cassandra.cql3.Operation;
import org.apache.cassandra.cql3.statements.DeleteStatement;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.cql3.statements.schema.IndexTarget;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.marshal.ByteBufferAccessor;
import org.apache.cassandra.db.marshal.CompositeType;
import org.apache.cassandra.db.rows.Cell;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.index.TargetParser;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.IndexMetadata;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.FBUtilities;

/**
 * A unique index of a table: no two rows have the same values of its columns. A row without one of
 * them has no entry, so there may be many. Values are equal if their bytes are, as those of keys.
 *
 * <p>Its entries are rows of a transactional table, which has the name of the index. The values are
 * the key there, and the row's own key is what it finds.
 */
public final class UniqueKey {
  /** Of the index, in the schema: all rows have their entries from this timestamp on (micros). */
  static final String OPTION_SINCE = "since";

  /** Of the index, in the schema: the id of the table of its entries. */
  static final String OPTION_ENTRIES = "entries";

  /** Between the columns, as Cassandra writes them. */
  private static final Splitter TARGETS = Splitter.on(", ");

  /** What is known of an index; it must not lead to the table, which is a weak key. */
  private record Known(IndexMetadata index, List<ColumnMetadata> columns) {}

  private static final ConcurrentMap<TableMetadata, List<Known>> KNOWN =
      new MapMaker().weakKeys().makeMap();

  private final TableMetadata table;
  private final IndexMetadata index;
  private final List<ColumnMetadata> columns;

  UniqueKey(TableMetadata table, IndexMetadata index) {
    this(table, index, columns(table, index));
  }

  private UniqueKey(TableMetadata table, IndexMetadata index, List<ColumnMetadata> columns) {
    this.table = table;
    this.index = index;
    this.columns = columns;
  }

  private static List<ColumnMetadata> columns(TableMetadata table, IndexMetadata index) {
    List<ColumnMetadata> columns = new ArrayList<>();
    for (String target : TARGETS.split(index.options.get(IndexTarget.TARGET_OPTION_NAME))) {
      columns.add(TargetParser.parse(table, target).left);
    }
    return columns;
  }

  /** Whether an index of the schema is a unique one. */
  public static boolean isUnique(IndexMetadata index) {
    return UniqueIndex.class
        .getName()
        .equals(index.options.get(IndexTarget.CUSTOM_INDEX_OPTION_NAME));
  }

  /** The unique indexes of a table as it is in a schema. Every write asks. */
  public static List<UniqueKey> of(TableMetadata table) {
    if (table.indexes.size() < 2) { // One index makes the table transactional.
      return List.of();
    }
    List<Known> known = KNOWN.computeIfAbsent(table, UniqueKey::known);
    return Lists.transform(known, one -> new UniqueKey(table, one.index, one.columns));
  }

  private static List<Known> known(TableMetadata table) {
    return table.indexes.stream()
        .filter(UniqueKey::isUnique)
        .map(index -> new Known(index, columns(table, index)))
        .toList();
  }

  /**
   * The unique indexes that a table has now. What was prepared before may know of others, and must
   * keep these. To be called by who keeps the table's barrier open, so that it stays true.
   */
  public static List<UniqueKey> now(TableMetadata prepared) {
    TableMetadata now = Schema.instance.getTableMetadata(prepared.id);
    return now == null ? List.of() : of(now);
  }

  /** Whether a statement may change entries, so that it has to read what it changes. */
  public static boolean mayChange(ModificationStatement statement) {
    List<UniqueKey> keys = now(statement.metadata());
    if (keys.isEmpty()) {
      return false;
    }
    boolean isWhole = statement instanceof DeleteStatement;
    for (Operation operation : statement.allOperations()) {
      isWhole = false;
      if (keys.stream().anyMatch(key -> key.has(operation.column))) {
        return true;
      }
    }
    return isWhole;
  }

  public String name() {
    return index.name;
  }

  /** The table that has the index, as it was when a statement was prepared. */
  public TableMetadata table() {
    return table;
  }

  public List<ColumnMetadata> columns() {
    return columns;
  }

  public boolean has(ColumnMetadata column) {
    return columns.contains(column);
  }

  /** Whether all rows have their entries; until then it can't be read. */
  public boolean isReadable() {
    return index.options.containsKey(OPTION_SINCE);
  }

  /** Whether all rows of a snapshot have their entries. */
  public boolean isReadableAt(long asOf) {
    return isReadable() && asOf >= Long.parseLong(index.options.get(OPTION_SINCE));
  }

  /** The id of the table of the entries. */
  public TableId entriesId() {
    return TableId.fromString(index.options.get(OPTION_ENTRIES));
  }

  /**
   * The table of the entries.
   *
   * @throws IsoldeException UNAVAILABLE if it was dropped meanwhile
   */
  public TableMetadata entries() {
    TableMetadata entries = Schema.instance.getTableMetadata(entriesId());
    if (entries == null) {
      throw IsoldeException.of(
          ErrorCode.UNAVAILABLE,
          "The unique index " + index.name + " was dropped meanwhile; try again.",
          "table",
          table);
    }
    return entries;
  }

  /** Whether it is the same, and not another one of the same name. */
  public boolean isSame(UniqueKey other) {
    return name().equals(other.name()) && entriesId().equals(other.entriesId());
  }

  /**
   * The entry that a row has; none if its values can't be a key.
   *
   * @param row null if there is none
   */
  Optional<UniqueEntry> entryOf(DecoratedKey key, Row row) {
    return row == null ? Optional.empty() : entryOf(key, row, false);
  }

  /**
   * The entry that a row is to have.
   *
   * @param row null if there is none
   * @throws IsoldeException INVALID_REQUEST if its values can't be a key
   */
  Optional<UniqueEntry> newEntryOf(DecoratedKey key, Row row) {
    return row == null ? Optional.empty() : entryOf(key, row, true);
  }

  private Optional<UniqueEntry> entryOf(DecoratedKey key, Row row, boolean isNew) {
    List<ByteBuffer> values = new ArrayList<>(columns.size());
    int ttlSeconds = Cell.NO_TTL;
    long endSeconds = Cell.NO_DELETION_TIME;
    for (ColumnMetadata column : columns) {
      if (column.isPrimaryKeyColumn()) {
        values.add(keyValue(column, key, row.clustering()));
        continue;
      }
      Cell<?> cell = row.getCell(column);
      if (cell == null) {
        return Optional.empty();
      }
      values.add(cell.buffer());
      if (cell.isExpiring() && cell.localDeletionTime() < endSeconds) {
        ttlSeconds = cell.ttl();
        endSeconds = cell.localDeletionTime();
      }
    }
    if (!isNew && !isPossible(values)) {
      return Optional.empty();
    }
    return Optional.of(
        new UniqueEntry(
            this,
            entryKey(values),
            new UniqueEntry.Owner(key, row.clustering()),
            ttlSeconds,
            endSeconds));
  }

  /** The value of a column of the primary key. */
  public ByteBuffer keyValue(ColumnMetadata column, DecoratedKey key, Clustering<?> clustering) {
    return column.isPartitionKey()
        ? component(table, key, column.position())
        : clustering.bufferAt(column.position());
  }

  private static ByteBuffer component(TableMetadata table, DecoratedKey key, int position) {
    return table.partitionKeyType instanceof CompositeType composite
        ? composite.split(key.getKey())[position]
        : key.getKey();
  }

  /**
   * The key of the entry of some values.
   *
   * @param values in the order of the columns
   * @throws IsoldeException INVALID_REQUEST if they can't be a key
   */
  public DecoratedKey entryKey(List<ByteBuffer> values) {
    ByteBuffer bytes = bytes(values);
    if (!isKey(bytes)) {
      throw IsoldeException.invalid(
          "The unique index %s takes values of 1 to %d bytes, not %d; null is no value."
              .formatted(name(), FBUtilities.MAX_UNSIGNED_SHORT, bytes.remaining()),
          "table",
          table,
          "index",
          name());
    }
    return table.partitioner.decorateKey(bytes);
  }

  /** Whether any row can have these values. */
  public boolean isPossible(List<ByteBuffer> values) {
    return isKey(bytes(values));
  }

  private static boolean isKey(ByteBuffer bytes) {
    return bytes.hasRemaining() && bytes.remaining() <= FBUtilities.MAX_UNSIGNED_SHORT;
  }

  private static ByteBuffer bytes(List<ByteBuffer> values) {
    return values.size() == 1
        ? values.get(0)
        : CompositeType.build(ByteBufferAccessor.instance, values.toArray(ByteBuffer[]::new));
  }

  /**
   * The row that an entry leads to.
   *
   * @param entry the row of the entry, as it was read
   */
  public UniqueEntry.Owner ownerOf(DecoratedKey entryKey, Row entry) {
    TableMetadata entries = entries();
    List<ByteBuffer> keys = new ArrayList<>();
    for (ColumnMetadata column : table.partitionKeyColumns()) {
      keys.add(value(column, entries, entryKey, entry));
    }
    List<ByteBuffer> clustering = new ArrayList<>();
    for (ColumnMetadata column : table.clusteringColumns()) {
      clustering.add(value(column, entries, entryKey, entry));
    }
    return UniqueEntry.Owner.of(table, keys, clustering);
  }

  private ByteBuffer value(
      ColumnMetadata column, TableMetadata entries, DecoratedKey entryKey, Row entry) {
    int position = columns.indexOf(column);
    if (position >= 0) {
      return component(entries, entryKey, position);
    }
    Cell<?> cell = entry.getCell(entries.getColumn(column.name));
    assert cell != null : "an entry has the whole key of its row: " + entry.toString(entries);
    return cell.buffer();
  }

  /** The value of a column of a row's own key, as the entry has it. */
  ByteBuffer ownKeyValue(ColumnMetadata column, UniqueEntry.Owner owner) {
    return keyValue(column, owner.key(), owner.clustering());
  }

  /** Reads what the index needs to know of a row. */
  public SinglePartitionReadCommand read(UniqueEntry.Owner row, long nowInSeconds) {
    return ChangedRows.row(this, row, nowInSeconds);
  }

  /** The columns of which rows have to be read, to know their entries. */
  List<ColumnMetadata> regularColumns() {
    return columns.stream().filter(ColumnMetadata::isRegular).toList();
  }

  private static String describe(ColumnMetadata column, ByteBuffer value) {
    return column.name.toCQLString() + " = " + column.type.unwrap().toCQLString(value);
  }

  /** Whether both are one row, whose values may have other bytes. */
  boolean areSame(UniqueEntry.Owner one, UniqueEntry.Owner other) {
    return one.key().equals(other.key())
        && table.comparator.compare(one.clustering(), other.clustering()) == 0;
  }

  /** The values of an entry as text, for people. */
  String describe(DecoratedKey entryKey) {
    TableMetadata entries = entries();
    return columns.stream()
        .map(column -> describe(column, component(entries, entryKey, columns.indexOf(column))))
        .collect(Collectors.joining(", "));
  }
}
