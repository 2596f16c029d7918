// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import org.apache.cassandra.db.marshal.AbstractType;
import org.apache.cassandra.db.virtual.AbstractVirtualTable;
import org.apache.cassandra.db.virtual.SimpleDataSet;
import org.apache.cassandra.dht.LocalPartitioner;
import org.apache.cassandra.schema.TableMetadata;

/** A virtual table whose rows are made when somebody looks. */
abstract class NodeTable extends AbstractVirtualTable {
  static final String KEYSPACE = "isolde";

  NodeTable(TableMetadata.Builder columns) {
    super(columns.build());
  }

  /**
   * Begins a table.
   *
   * @param key the only column of the partition key
   */
  static TableMetadata.Builder table(
      String name, String comment, String key, AbstractType<?> keyType) {
    return TableMetadata.builder(KEYSPACE, name)
        .comment(comment)
        .kind(TableMetadata.Kind.VIRTUAL)
        .partitioner(new LocalPartitioner(keyType))
        .addPartitionKeyColumn(key, keyType);
  }

  @Override
  public final DataSet data() {
    SimpleDataSet rows = new SimpleDataSet(metadata());
    fill(rows);
    return rows;
  }

  abstract void fill(SimpleDataSet rows);
}
