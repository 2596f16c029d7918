// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import java.nio.ByteBuffer;
import java.util.Collection;
import org.apache.cassandra.db.DataRange;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.filter.ClusteringIndexFilter;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.TableMetadata;

/** Is told what a transaction reads, also where it finds nothing. */
public interface ReadRecorder {
  /** For transactions whose reads can't conflict. */
  ReadRecorder NONE =
      new ReadRecorder() {
        @Override
        public void partition(
            TableMetadata table, DecoratedKey key, ClusteringIndexFilter rows, boolean statics) {}

        @Override
        public void range(TableMetadata table, DataRange range) {}

        @Override
        public void matching(
            TableMetadata table, DataRange range, Collection<Condition> conditions) {}
      };

  /**
   * Rows of one partition are read.
   *
   * @param statics whether the partition's static row is read too
   */
  void partition(
      TableMetadata table, DecoratedKey key, ClusteringIndexFilter rows, boolean statics);

  void range(TableMetadata table, DataRange range);

  /**
   * Rows of a range are read that match all of some conditions. Each that is found is recorded by
   * itself. So this is about those that are not there, and would be if a write made them match.
   */
  void matching(TableMetadata table, DataRange range, Collection<Condition> conditions);

  /**
   * What a write has to fulfil to make a row match.
   *
   * @param column it writes to this one
   * @param value and writes this; null for any value
   */
  record Condition(ColumnMetadata column, ByteBuffer value) {}
}
