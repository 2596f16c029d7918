// SPDX-License-Identifier: Apache-2.0
package io.isolde.unique;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.partitions.FilteredPartition;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.schema.TableId;

/**
 * What a statement, or a batch, changes of the entries of unique indexes. Only its end counts: rows
 * may exchange their values within it.
 *
 * <p>An entry may lead to a row that does not have its value any more, if a TRUNCATE was cut off.
 * So the row decides. A value without an entry would do harm, and there is none: each commit that
 * gives a row a value writes the entry too, and the oracle checks all that was read for that.
 */
public final class EntryChanges {
  /** How to read, as of one moment. All that is read is checked when the writes are committed. */
  public interface Reads {
    /**
     * Reads as it was before.
     *
     * @param own what the transaction had written to the partition before; null for nothing
     */
    FilteredPartition before(SinglePartitionReadCommand command, PartitionUpdate own);

    /** Reads with all that was written, but for the entries that this makes. */
    FilteredPartition after(SinglePartitionReadCommand command);
  }

  private record PartitionId(TableId table, DecoratedKey key) {}

  private record EntryId(String keyspace, String index, DecoratedKey key) {}

  private final Map<PartitionId, ChangedRows> partitions = new LinkedHashMap<>();
  private final Map<EntryId, UniqueEntry> released = new LinkedHashMap<>();
  private final Map<EntryId, UniqueEntry> claimed = new LinkedHashMap<>();

  /** Whether nothing that has a unique index is written. */
  public boolean isEmpty() {
    return partitions.isEmpty() && claimed.isEmpty();
  }

  /**
   * Notes what is written.
   *
   * @param own what the transaction has written to the partition before; null for nothing
   */
  public void add(PartitionUpdate update, PartitionUpdate own) {
    List<UniqueKey> keys = UniqueKey.now(update.metadata());
    if (!keys.isEmpty()) {
      partitions
          .computeIfAbsent(
              new PartitionId(update.metadata().id, update.partitionKey()),
              id -> new ChangedRows(keys, own))
          .add(update);
    }
  }

  /**
   * Notes a row that was there before an index, which may need an entry.
   *
   * @param row as it was read; null if it has gone
   */
  public void addExisting(UniqueKey index, DecoratedKey key, Row row) {
    index.newEntryOf(key, row).ifPresent(this::claim);
  }

  /**
   * The entries to be written.
   *
   * @param timestamp of the writes of entries
   * @throws IsoldeException UNIQUE_VIOLATION if another row has a value that is written;
   *     TRANSACTION_TOO_LARGE if it is of too many rows of a partition
   */
  public List<PartitionUpdate> entries(Reads reads, long timestamp, long nowInSeconds) {
    partitions.values().forEach(rows -> compare(rows, reads, nowInSeconds));
    List<PartitionUpdate> updates = new ArrayList<>();
    for (UniqueEntry claim : claimed.values()) {
      requireFree(claim, reads, nowInSeconds);
      updates.add(claim.insertion(timestamp));
    }
    released.keySet().removeAll(claimed.keySet());
    for (UniqueEntry release : released.values()) {
      if (isOwn(release, reads, nowInSeconds)) {
        updates.add(UniqueEntry.deletion(release.index(), release.key(), timestamp));
      }
    }
    return updates;
  }

  private void compare(ChangedRows rows, Reads reads, long nowInSeconds) {
    for (SinglePartitionReadCommand command : rows.commands(nowInSeconds)) {
      FilteredPartition before = reads.before(command, rows.own());
      FilteredPartition after = rows.after(before, nowInSeconds);
      Set<Clustering<?>> all = new HashSet<>();
      before.forEach(row -> all.add(row.clustering()));
      after.forEach(row -> all.add(row.clustering()));
      for (UniqueKey index : rows.indexes()) {
        for (Clustering<?> row : all) {
          compare(
              index.entryOf(before.partitionKey(), before.getRow(row)),
              index.newEntryOf(before.partitionKey(), after.getRow(row)));
        }
      }
    }
  }

  private void compare(Optional<UniqueEntry> before, Optional<UniqueEntry> after) {
    if (before.isPresent() && after.isPresent() && before.get().isSame(after.get())) {
      return;
    }
    before.ifPresent(entry -> released.put(id(entry), entry));
    after.ifPresent(this::claim);
  }

  private static EntryId id(UniqueEntry entry) {
    return new EntryId(entry.index().table().keyspace, entry.index().name(), entry.key());
  }

  private void claim(UniqueEntry entry) {
    UniqueEntry other = claimed.putIfAbsent(id(entry), entry);
    if (other != null && !entry.index().areSame(other.owner(), entry.owner())) {
      throw violation(entry);
    }
  }

  private static void requireFree(UniqueEntry claim, Reads reads, long nowInSeconds) {
    UniqueEntry.Owner owner = owner(claim, reads, nowInSeconds);
    if (owner == null || claim.index().areSame(owner, claim.owner())) {
      return;
    }
    Row row = reads.after(claim.index().read(owner, nowInSeconds)).getRow(owner.clustering());
    boolean isTaken =
        claim
            .index()
            .entryOf(owner.key(), row)
            .filter(entry -> entry.key().equals(claim.key()))
            .isPresent();
    if (isTaken) {
      throw violation(claim);
    }
  }

  /**
   * While an index is built, another row of the same value may have the entry. Another row may have
   * taken it, too, if the value has ended by the time of others.
   */
  private static boolean isOwn(UniqueEntry release, Reads reads, long nowInSeconds) {
    if (release.index().isReadable() && !release.ends()) {
      return true;
    }
    UniqueEntry.Owner owner = owner(release, reads, nowInSeconds);
    return owner != null && release.index().areSame(release.owner(), owner);
  }

  /** Returns null if there is no such entry. */
  private static UniqueEntry.Owner owner(UniqueEntry entry, Reads reads, long nowInSeconds) {
    Row found =
        reads
            .after(UniqueEntry.read(entry.index(), entry.key(), nowInSeconds))
            .getRow(Clustering.EMPTY);
    return found == null ? null : entry.index().ownerOf(entry.key(), found);
  }

  private static IsoldeException violation(UniqueEntry claim) {
    UniqueKey index = claim.index();
    String value = index.describe(claim.key());
    return IsoldeException.of(
        ErrorCode.UNIQUE_VIOLATION,
        "Another row of "
            + index.table()
            + " has "
            + value
            + " already, which the unique index "
            + index.name()
            + " allows once.",
        "table",
        index.table(),
        "index",
        index.name(),
        "value",
        value);
  }
}
