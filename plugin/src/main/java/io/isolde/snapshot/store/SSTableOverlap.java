// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.store;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.io.sstable.format.SSTableReader;

/** How many SSTables a read of one partition may have to look at, at most. */
final class SSTableOverlap {
  private SSTableOverlap() {}

  /** An SSTable begins or ends at a key. */
  private record Edge(DecoratedKey key, boolean isBeginning) {}

  static int depth(Collection<SSTableReader> sstables) {
    List<Edge> edges = new ArrayList<>(2 * sstables.size());
    for (SSTableReader sstable : sstables) {
      edges.add(new Edge(sstable.getFirst(), true));
      edges.add(new Edge(sstable.getLast(), false));
    }
    // Both edges belong to an SSTable: at the same key, beginnings come first.
    edges.sort(Comparator.comparing(Edge::key).thenComparing(edge -> edge.isBeginning ? 0 : 1));
    int open = 0;
    int deepest = 0;
    for (Edge edge : edges) {
      open += edge.isBeginning ? 1 : -1;
      deepest = Math.max(deepest, open);
    }
    return deepest;
  }
}
