// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import java.util.Collection;
import java.util.List;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.PartitionPosition;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.dht.AbstractBounds;
import org.apache.cassandra.schema.TableId;

/** What a transaction has written and not yet committed, newer than everything that it reads. */
public interface OwnWrites {
  OwnWrites NONE =
      new OwnWrites() {
        @Override
        public PartitionUpdate of(TableId table, DecoratedKey key) {
          return null;
        }

        @Override
        public Collection<PartitionUpdate> in(
            TableId table, AbstractBounds<PartitionPosition> range) {
          return List.of();
        }
      };

  /** As if nothing else had been written. */
  static OwnWrites only(PartitionUpdate own) {
    return new OwnWrites() {
      @Override
      public PartitionUpdate of(TableId table, DecoratedKey key) {
        return own.metadata().id.equals(table) && own.partitionKey().equals(key) ? own : null;
      }

      @Override
      public Collection<PartitionUpdate> in(
          TableId table, AbstractBounds<PartitionPosition> range) {
        return own.metadata().id.equals(table) && range.contains(own.partitionKey())
            ? List.of(own)
            : List.of();
      }
    };
  }

  /** Returns null if nothing of the partition was written. */
  PartitionUpdate of(TableId table, DecoratedKey key);

  /** In token order. */
  Collection<PartitionUpdate> in(TableId table, AbstractBounds<PartitionPosition> range);
}
