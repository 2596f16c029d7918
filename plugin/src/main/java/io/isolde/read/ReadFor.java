// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import java.util.function.UnaryOperator;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.pager.QueryPager;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.transport.ProtocolVersion;

/** For whom replicas are read, and how. */
record ReadFor(
    ConsistencyLevel consistency, ClientState state, Dispatcher.RequestTime requestTime) {
  PartitionIterator execute(ReadQuery query) {
    return query.execute(consistency, state, requestTime);
  }

  /** All that an unlimited query selects. */
  PartitionIterator chunks(ReadQuery query) {
    return new ChunkedPartitions(
        pages(query), ChunkedPartitions.ROWS_PER_CHUNK, UnaryOperator.identity());
  }

  Pages pages(ReadQuery query) {
    QueryPager pager = query.getPager(null, ProtocolVersion.CURRENT);
    return new Pages() {
      @Override
      public boolean areExhausted() {
        return pager.isExhausted();
      }

      @Override
      public PartitionIterator next(int rows) {
        return pager.fetchPage(rows, consistency, state, requestTime);
      }
    };
  }

  /** The pages of a query. */
  interface Pages {
    boolean areExhausted();

    PartitionIterator next(int rows);
  }
}
