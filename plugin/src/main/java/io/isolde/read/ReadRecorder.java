// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import org.apache.cassandra.db.DataRange;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.filter.ClusteringIndexFilter;
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
      };

  /**
   * Rows of one partition are read.
   *
   * @param statics whether the partition's static row is read too
   */
  void partition(
      TableMetadata table, DecoratedKey key, ClusteringIndexFilter rows, boolean statics);

  void range(TableMetadata table, DataRange range);
}
