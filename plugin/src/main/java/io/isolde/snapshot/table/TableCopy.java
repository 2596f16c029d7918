// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.table;

import io.isolde.snapshot.SnapshotTag;
import io.isolde.snapshot.store.FrozenStrategy;
import io.isolde.unique.UniqueKey;
import io.isolde.version.VersionIndex;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.apache.cassandra.cql3.statements.schema.IndexTarget;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.CompactionParams;
import org.apache.cassandra.schema.DroppedColumn;
import org.apache.cassandra.schema.IndexMetadata;
import org.apache.cassandra.schema.Indexes;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.schema.TableParams;
import org.apache.cassandra.schema.Triggers;
import org.apache.cassandra.service.reads.repair.ReadRepairStrategy;

/** The metadata of a snapshot's table: the source's, without what would change its content. */
final class TableCopy {
  private final TableMetadata source;
  private final String name;
  private final SnapshotTag tag;

  TableCopy(TableMetadata source, SnapshotTag tag) {
    this.source = source;
    this.name = SnapshotTag.tableName(source.name, tag.snapshot());
    this.tag = tag;
  }

  TableMetadata build(TableId id) {
    TableMetadata.Builder copy =
        TableMetadata.builder(source.keyspace, name, id)
            .partitioner(source.partitioner)
            .flags(source.flags)
            .params(params())
            .droppedColumns(droppedColumns())
            .indexes(indexes())
            .triggers(Triggers.none());
    source.columns().forEach(column -> copy.addColumn(here(column)));
    return copy.build();
  }

  private ColumnMetadata here(ColumnMetadata column) {
    return new ColumnMetadata(
        source.keyspace,
        name,
        column.name,
        column.type,
        column.position(),
        column.kind,
        column.getMask());
  }

  /** The SSTables may still hold them. */
  private Map<ByteBuffer, DroppedColumn> droppedColumns() {
    Map<ByteBuffer, DroppedColumn> dropped = new HashMap<>();
    source.droppedColumns.forEach(
        (column, drop) ->
            dropped.put(column, new DroppedColumn(here(drop.column), drop.droppedTime)));
    return dropped;
  }

  /**
   * Nothing changes a snapshot: no read repair, no compaction but its own, no expiry of new rows,
   * no copies of files by itself.
   */
  private TableParams params() {
    return source
        .params
        .unbuild()
        .comment("Isolde: snapshot " + tag.snapshot() + " of " + source.name)
        .readRepair(ReadRepairStrategy.NONE)
        .compaction(CompactionParams.create(FrozenStrategy.class, Map.of()))
        .bloomFilterFpChance(source.params.bloomFilterFpChance)
        .allowAutoSnapshot(false)
        .incrementalBackups(false)
        .cdc(false)
        .extensions(tag.toExtensions())
        .build();
  }

  /**
   * Index names are per keyspace. Old versions are not kept of what does not change, and entries of
   * unique indexes lead to rows of the source.
   */
  private Indexes indexes() {
    Indexes.Builder copies = Indexes.builder();
    for (IndexMetadata index : source.indexes) {
      String kind = index.options.get(IndexTarget.CUSTOM_INDEX_OPTION_NAME);
      if (!VersionIndex.class.getName().equals(kind) && !UniqueKey.isUnique(index)) {
        copies.add(
            IndexMetadata.fromSchemaMetadata(
                SnapshotTag.tableName(index.name, tag.snapshot()), index.kind, index.options));
      }
    }
    return copies.build();
  }

  /** The same table, ready to be read. */
  static TableMetadata published(TableMetadata table, long timestampMicros) {
    SnapshotTag tag = SnapshotTag.of(table).orElseThrow();
    return table.unbuild().extensions(tag.ready(timestampMicros).toExtensions()).build();
  }
}
