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

  /** Returns null if nothing of the partition was written. */
  PartitionUpdate of(TableId table, DecoratedKey key);

  /** In token order. */
  Collection<PartitionUpdate> in(TableId table, AbstractBounds<PartitionPosition> range);
}
