// SPDX-License-Identifier: Apache-2.0
package io.isolde.unique;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.version.VersionIndex;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;
import org.apache.cassandra.cql3.statements.schema.IndexTarget;
import org.apache.cassandra.db.marshal.AbstractType;
import org.apache.cassandra.db.marshal.DecimalType;
import org.apache.cassandra.db.marshal.IntegerType;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.IndexMetadata;
import org.apache.cassandra.schema.Indexes;
import org.apache.cassandra.schema.KeyspaceMetadata;
import org.apache.cassandra.schema.Keyspaces;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.SchemaConstants;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.schema.Tables;
import org.apache.cassandra.utils.ByteBufferUtil;

/** Unique indexes in the schema. Each method is one change, seen whole or not at all. */
public final class UniqueSchema {
  /** Of a table of entries; its value is the name of the table that has the index. */
  private static final String EXTENSION = "isolde_unique";

  private UniqueSchema() {}

  /** Whether a table has the entries of a unique index. Every statement asks. */
  public static boolean isOfEntries(TableMetadata table) {
    return !table.params.extensions.isEmpty() && table.params.extensions.containsKey(EXTENSION);
  }

  /**
   * What is to be made.
   *
   * @param name null for one that is made of the names of table and column
   * @param targets as the statement names the columns
   * @param ifNotExists whether it is no error if there is one
   */
  public record Definition(String name, List<IndexTarget> targets, boolean ifNotExists) {}

  /**
   * Adds an index and the table of its entries. It can't be read yet. (Cassandra's own way is not
   * for columns that are a partition key alone.)
   *
   * @return the index, or the one that was there; empty if that is not a unique one of this table
   * @throws IsoldeException UNSUPPORTED_UNIQUE_INDEX
   * @throws InvalidRequestException if there is an index of that name
   */
  public static Optional<UniqueKey> create(TableMetadata asked, Definition definition) {
    List<UniqueKey> found = new ArrayList<>(1);
    var unused =
        Schema.instance.transform(
            before -> {
              KeyspaceMetadata keyspace = before.getNullable(asked.keyspace);
              TableMetadata table = keyspace == null ? null : keyspace.tables.getNullable(asked.id);
              if (table == null) {
                throw new InvalidRequestException("Table '" + asked + "' doesn't exist");
              }
              String name = definition.name;
              if (name != null && keyspace.hasIndex(name)) {
                if (!definition.ifNotExists) {
                  throw new InvalidRequestException("Index '" + name + "' already exists");
                }
                existing(table, one -> one.name().equals(name)).ifPresent(found::add);
                return before;
              }
              UniqueKey index = index(keyspace, table, definition);
              Optional<UniqueKey> same =
                  existing(table, one -> one.columns().equals(index.columns()));
              found.add(same.orElse(index));
              if (same.isPresent() && !definition.ifNotExists) {
                throw refused(index, same.get().name() + " is of the same columns.");
              }
              return same.isPresent() ? before : with(index, keyspace, before);
            });
    return found.stream().findFirst();
  }

  private static UniqueKey index(
      KeyspaceMetadata keyspace, TableMetadata table, Definition definition) {
    for (IndexTarget target : definition.targets) {
      if (!SchemaConstants.isValidCharsName(target.column.toString())) {
        throw new InvalidRequestException(
            "Column '" + target.column + "' contains non-alphanumeric-underscore characters");
      }
      if (target.type != IndexTarget.Type.SIMPLE && target.type != IndexTarget.Type.FULL) {
        throw new InvalidRequestException(
            "The collection "
                + target.column
                + " can be unique as a whole only: if it is frozen,"
                + " name it full("
                + target.column.toCQLString()
                + ")");
      }
    }
    String name = definition.name;
    if (name == null) {
      List<IndexTarget> targets = definition.targets;
      name =
          keyspace.findAvailableIndexName(
              targets.size() == 1
                  ? IndexMetadata.generateDefaultIndexName(table.name, targets.get(0).column)
                  : IndexMetadata.generateDefaultIndexName(table.name));
    }
    IndexMetadata index =
        IndexMetadata.fromIndexTargets(
            definition.targets,
            name,
            IndexMetadata.Kind.CUSTOM,
            Map.of(
                IndexTarget.CUSTOM_INDEX_OPTION_NAME,
                UniqueIndex.class.getName(),
                UniqueKey.OPTION_ENTRIES,
                TableId.generate().toString()));
    return new UniqueKey(table.withSwapped(table.indexes.with(index)), index);
  }

  private static Optional<UniqueKey> existing(TableMetadata table, Predicate<UniqueKey> which) {
    return UniqueKey.of(table).stream().filter(which).findFirst();
  }

  private static Keyspaces with(UniqueKey index, KeyspaceMetadata keyspace, Keyspaces schema) {
    requireSupported(index);
    if (keyspace.getTableOrViewNullable(index.name()) != null) {
      throw refused(index, "a table has its name, which its entries need; choose another name.");
    }
    TableMetadata entries = entries(index);
    index.table().validate();
    entries.validate();
    return schema.withAddedOrUpdated(
        keyspace.withSwapped(keyspace.tables.withSwapped(index.table()).with(entries)));
  }

  private static void requireSupported(UniqueKey index) {
    boolean hasRegular = false;
    for (ColumnMetadata column : index.columns()) {
      if (Collections.frequency(index.columns(), column) > 1) {
        throw refused(index, column.name + " comes twice.");
      }
      if (column.type.referencesDuration()) {
        throw refused(index, column.name + " has durations, which have no order.");
      }
      if (mayHaveOtherBytes(column.type.unwrap())) {
        throw refused(
            index, column.name + " has a type whose equal values may have different bytes.");
      }
      if (column.isStatic()) {
        throw refused(index, column.name + " is static; put it into a table of its own.");
      }
      if (column.type.isMultiCell()) {
        throw refused(index, column.name + " is a collection or a type that is not frozen.");
      }
      hasRegular |= column.isRegular();
    }
    if (!hasRegular) {
      throw refused(index, "it needs a column that is not of the primary key.");
    }
  }

  private static boolean mayHaveOtherBytes(AbstractType<?> type) {
    return type instanceof DecimalType
        || type instanceof IntegerType
        || type.subTypes().stream().anyMatch(UniqueSchema::mayHaveOtherBytes);
  }

  private static IsoldeException refused(UniqueKey index, String why) {
    return IsoldeException.of(
        ErrorCode.UNSUPPORTED_UNIQUE_INDEX,
        "There can't be the unique index " + index.name() + " on " + index.table() + ": " + why,
        "table",
        index.table(),
        "index",
        index.name());
  }

  private static TableMetadata entries(UniqueKey index) {
    TableMetadata table = index.table();
    TableMetadata.Builder entries =
        TableMetadata.builder(table.keyspace, index.name(), index.entriesId())
            .partitioner(table.partitioner)
            .params(
                table
                    .params
                    .unbuild()
                    .comment("Isolde: entries of the unique index of this name on " + table.name)
                    .defaultTimeToLive(0)
                    .cdc(false)
                    .extensions(Map.of(EXTENSION, ByteBufferUtil.bytes(table.name)))
                    .build());
    for (ColumnMetadata column : index.columns()) {
      entries.addPartitionKeyColumn(column.name, column.type.unwrap(), column.getMask());
    }
    for (ColumnMetadata column : table.primaryKeyColumns()) {
      if (!index.has(column)) {
        entries.addRegularColumn(column.name, column.type.unwrap(), column.getMask());
      }
    }
    IndexMetadata transactional =
        IndexMetadata.fromIndexTargets(
            List.of(),
            VersionIndex.nameFor(index.name()),
            IndexMetadata.Kind.CUSTOM,
            Map.of(IndexTarget.CUSTOM_INDEX_OPTION_NAME, VersionIndex.class.getName()));
    return entries.indexes(Indexes.of(transactional)).build();
  }

  /**
   * From now on the index can be read.
   *
   * @param since all rows have their entries in snapshots from this timestamp on (micros)
   * @throws IsoldeException UNAVAILABLE if it was dropped meanwhile
   */
  public static void makeReadable(UniqueKey index, long since) {
    var unused =
        Schema.instance.transform(
            before -> {
              KeyspaceMetadata keyspace = before.getNullable(index.table().keyspace);
              TableMetadata table =
                  keyspace == null ? null : keyspace.tables.getNullable(index.table().id);
              if (table == null || existing(table, index::isSame).isEmpty()) {
                throw IsoldeException.of(
                    ErrorCode.UNAVAILABLE,
                    "The unique index " + index.name() + " was dropped while it was built.",
                    "table",
                    index.table());
              }
              IndexMetadata old = table.indexes.get(index.name()).orElseThrow();
              Map<String, String> options = new HashMap<>(old.options);
              options.put(UniqueKey.OPTION_SINCE, String.valueOf(since));
              IndexMetadata readable =
                  IndexMetadata.fromSchemaMetadata(old.name, old.kind, options);
              return before.withAddedOrUpdated(
                  keyspace.withSwapped(
                      keyspace.tables.withSwapped(
                          table.withSwapped(table.indexes.replace(readable)))));
            });
  }

  /** Masks the entries as a table is masked now. */
  public static void followMasks(TableMetadata asked) {
    List<UniqueKey> indexes = UniqueKey.now(asked);
    if (indexes.stream().allMatch(index -> index.entries().equals(masked(index)))) {
      return;
    }
    var unused =
        Schema.instance.transform(
            before -> {
              KeyspaceMetadata keyspace = before.getNullable(asked.keyspace);
              Tables tables = keyspace.tables;
              for (UniqueKey index : UniqueKey.now(asked)) {
                tables = tables.withSwapped(masked(index));
              }
              return before.withAddedOrUpdated(keyspace.withSwapped(tables));
            });
  }

  private static TableMetadata masked(UniqueKey index) {
    TableMetadata entries = index.entries();
    TableMetadata.Builder masked = entries.unbuild();
    for (ColumnMetadata column : entries.columns()) {
      ColumnMetadata own = index.table().getColumn(column.name);
      if (!Objects.equals(own.getMask(), column.getMask())) {
        masked.alterColumnMask(column.name, own.getMask());
      }
    }
    return masked.build();
  }

  /** Removes an index that can't be built, with its entries, unless it can be read meanwhile. */
  public static void remove(UniqueKey index) {
    String keyspaceName = index.table().keyspace;
    var unused =
        Schema.instance.transform(
            before -> {
              KeyspaceMetadata keyspace = before.getNullable(keyspaceName);
              TableMetadata table =
                  keyspace == null ? null : keyspace.tables.getNullable(index.table().id);
              if (table == null
                  || existing(table, index::isSame).filter(one -> !one.isReadable()).isEmpty()) {
                return before;
              }
              return before.withAddedOrUpdated(
                  keyspace.withSwapped(
                      keyspace.tables.withSwapped(
                          table.withSwapped(table.indexes.without(index.name())))));
            });
    removeEntriesOfNone(keyspaceName);
  }

  /** Removes the tables of a keyspace whose entries are of no index, after a DROP. */
  public static void removeEntriesOfNone(String keyspaceName) {
    KeyspaceMetadata now = Schema.instance.getKeyspaceMetadata(keyspaceName);
    if (now == null || now.tables.stream().noneMatch(table -> isOrphan(now, table))) {
      return;
    }
    var unused =
        Schema.instance.transform(
            before -> {
              KeyspaceMetadata keyspace = before.getNullable(keyspaceName);
              return keyspace == null
                  ? before
                  : before.withAddedOrUpdated(
                      keyspace.withSwapped(
                          keyspace.tables.filter(table -> !isOrphan(keyspace, table))));
            });
  }

  private static boolean isOrphan(KeyspaceMetadata keyspace, TableMetadata table) {
    if (!isOfEntries(table)) {
      return false;
    }
    ByteBuffer owner = table.params.extensions.get(EXTENSION).duplicate();
    TableMetadata indexed =
        keyspace.tables.getNullable(
            new String(ByteBufferUtil.getArray(owner), StandardCharsets.UTF_8));
    return indexed == null || indexed.indexes.get(table.name).filter(UniqueKey::isUnique).isEmpty();
  }
}
