// SPDX-License-Identifier: Apache-2.0
package io.isolde.block;

import java.nio.ByteBuffer;
import java.util.List;
import org.apache.cassandra.cql3.QueryOptions;

/**
 * What values of a block are calculated from: what the client has bound, and the rows that were
 * read so far.
 */
final class BlockMoment {
  private final QueryOptions options;
  private final List<ByteBuffer>[] rows;

  @SuppressWarnings("unchecked") // only lists go in
  BlockMoment(QueryOptions options, int lets) {
    this.options = options;
    this.rows = (List<ByteBuffer>[]) new List<?>[lets];
  }

  QueryOptions options() {
    return options;
  }

  /** What the client has bound to a marker of the block. */
  ByteBuffer bound(int marker) {
    return options.getValues().get(marker);
  }

  /** What a LET has found; null for no row. */
  List<ByteBuffer> row(int let) {
    return rows[let];
  }

  void found(int let, List<ByteBuffer> row) {
    rows[let] = row;
  }
}
