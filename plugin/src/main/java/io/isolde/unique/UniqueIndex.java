// SPDX-License-Identifier: Apache-2.0
package io.isolde.unique;

import io.isolde.version.IndexInSchema;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.apache.cassandra.cql3.Operator;
import org.apache.cassandra.cql3.statements.schema.IndexTarget;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.ReadCommand;
import org.apache.cassandra.db.RegularAndStaticColumns;
import org.apache.cassandra.db.WriteContext;
import org.apache.cassandra.db.filter.RowFilter;
import org.apache.cassandra.db.marshal.AbstractType;
import org.apache.cassandra.db.memtable.Memtable;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.index.IndexRegistry;
import org.apache.cassandra.index.SingletonIndexGroup;
import org.apache.cassandra.index.transactions.IndexTransaction;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.IndexMetadata;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;

/**
 * The place of a unique index in the schema: {@code DESCRIBE}, {@code DROP INDEX} and drivers know
 * it by that. On a replica it does nothing: coordinators keep and read its entries.
 */
public final class UniqueIndex extends IndexInSchema {
  private final ColumnFamilyStore cfs;
  private volatile IndexMetadata index;

  /** Called by Cassandra, by reflection. */
  public UniqueIndex(ColumnFamilyStore cfs, IndexMetadata index) {
    this.cfs = cfs;
    this.index = index;
  }

  /**
   * Called by Cassandra, by reflection.
   *
   * @return the options that it does not know
   */
  public static Map<String, String> validateOptions(Map<String, String> options) {
    Map<String, String> unknown = new HashMap<>(options);
    unknown
        .keySet()
        .removeAll(
            Set.of(
                UniqueKey.OPTION_SINCE, UniqueKey.OPTION_ENTRIES, IndexTarget.TARGET_OPTION_NAME));
    return unknown;
  }

  @Override
  public void register(IndexRegistry registry) {
    registry.registerIndex(this, new Group.Key(this), () -> new OfNoReplica(this));
  }

  /** No write of a replica, no compaction and no read has anything to do with it. */
  private static final class OfNoReplica extends SingletonIndexGroup {
    OfNoReplica(UniqueIndex index) {
      super(index);
    }

    @Override
    public boolean handles(IndexTransaction.Type type) {
      return false;
    }

    @Override
    public QueryPlan queryPlanFor(RowFilter filter) {
      return null;
    }
  }

  /** Statements can be prepared with it from the moment on that all rows have their entries. */
  @Override
  public boolean supportsExpression(ColumnMetadata column, Operator operator) {
    return operator == Operator.EQ
        && UniqueKey.of(cfs.metadata()).stream()
            .anyMatch(key -> key.name().equals(index.name) && key.isReadable() && key.has(column));
  }

  /** The entries are made of these columns, and name the rows by their keys. */
  @Override
  public boolean dependsOn(ColumnMetadata column) {
    TableMetadata table = cfs.metadata();
    return column.isPrimaryKeyColumn()
        || UniqueKey.of(table).stream()
            .anyMatch(key -> key.name().equals(index.name) && key.has(column));
  }

  @Override
  public Callable<?> getMetadataReloadTask(IndexMetadata metadata) {
    return () -> {
      index = metadata;
      return null;
    };
  }

  @Override
  public IndexMetadata getIndexMetadata() {
    return index;
  }

  @Override
  public Indexer indexerFor(
      DecoratedKey key,
      RegularAndStaticColumns columns,
      long nowInSec,
      WriteContext context,
      IndexTransaction.Type type,
      Memtable memtable) {
    return null;
  }

  @Override
  public Searcher searcherFor(ReadCommand command) {
    throw new InvalidRequestException(
        "The unique index " + index.name + " is read by Isolde only; is the plugin in use?");
  }

  @Override
  public RowFilter getPostIndexQueryFilter(RowFilter filter) {
    return filter;
  }

  @Override
  public AbstractType<?> customExpressionValueType() {
    return null;
  }

  @Override
  public long getEstimatedResultRows() {
    return Long.MAX_VALUE;
  }

  @Override
  public void validate(PartitionUpdate update, ClientState state) {}
}
