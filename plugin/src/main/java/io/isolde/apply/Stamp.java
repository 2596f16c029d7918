// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.partitions.PartitionUpdate;

/** Turns buffered writes into mutations at a commit timestamp. */
public final class Stamp {
  /**
   * Of cells that get their timestamp later, from the order in which a log has them. Above the
   * moment of each drop of a column: who reads an update from a log leaves out cells that seem
   * older than that, should there be a column of that name again.
   */
  public static final long PROVISIONAL_MICROS = 1L << 62;

  private record Target(String keyspace, DecoratedKey key) {}

  private Stamp() {}

  /**
   * One mutation for each partition key of a keyspace. Cells get the commit timestamp; deletions
   * get one less, so that what the same transaction wrote after them stays. New elements of lists
   * get the place that belongs to it.
   */
  public static List<Mutation> mutations(
      Collection<PartitionUpdate> updates, long commitTimestamp) {
    return mutations(
        updates, commitTimestamp, update -> ListCellPaths.newAt(commitTimestamp, update));
  }

  /**
   * The same, of an entry of the log of a replica group.
   *
   * @param isPlaced whether the elements of lists keep the places that they have
   */
  public static List<Mutation> mutations(
      Collection<PartitionUpdate> updates, long timestamp, boolean isPlaced) {
    return mutations(
        updates,
        timestamp,
        isPlaced ? update -> update : update -> ListCellPaths.at(timestamp, update));
  }

  private static List<Mutation> mutations(
      Collection<PartitionUpdate> updates,
      long commitTimestamp,
      UnaryOperator<PartitionUpdate> placing) {
    assert commitTimestamp % 2 == 0;
    Map<Target, List<Mutation>> byTarget = new LinkedHashMap<>();
    for (PartitionUpdate update : updates) {
      PartitionUpdate stamped =
          new PartitionUpdate.Builder(placing.apply(update), 0)
              .updateAllTimestamp(commitTimestamp)
              .build();
      Target target = new Target(update.metadata().keyspace, update.partitionKey());
      byTarget.computeIfAbsent(target, t -> new ArrayList<>(1)).add(new Mutation(stamped));
    }
    List<Mutation> mutations = new ArrayList<>(byTarget.size());
    byTarget.values().forEach(tables -> mutations.add(Mutation.merge(tables)));
    return mutations;
  }
}
