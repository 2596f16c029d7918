// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.apply.ListCellPaths;
import java.nio.ByteBuffer;
import org.apache.cassandra.db.ClockAndCount;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DeletionInfo;
import org.apache.cassandra.db.DeletionTime;
import org.apache.cassandra.db.context.CounterContext;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.BTreeRow;
import org.apache.cassandra.db.rows.BufferCell;
import org.apache.cassandra.db.rows.Cell;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.utils.CounterId;

/**
 * Counters as the log keeps them: not what is added, but what they come to. That is one shard, in
 * Cassandra's sense, whose clock is the log's time. Of two copies of a shard Cassandra keeps the
 * one with the later clock. So whoever replays the log, or a part of it, counts nothing twice.
 *
 * <p>Cassandra never shows a counter again that was deleted as a column. Here such a deletion is
 * one of the row, which keeps its other counters; so what is added later counts from zero.
 */
final class DecidedCounters {
  /** Of all shards that logs write: their order makes the clocks, whoever leads. */
  private static final CounterId LOG = CounterId.fromInt(0);

  private static final CounterContext CONTEXT = CounterContext.instance();

  private final PartitionUpdate update;
  private final RowsBefore before;
  private final long micros;
  private final long nowInSeconds;

  private DecidedCounters(PartitionUpdate update, long micros, long nowInSeconds) {
    this.update = update;
    this.before = RowsBefore.of(update, nowInSeconds);
    this.micros = micros;
    this.nowInSeconds = nowInSeconds;
  }

  /**
   * The update of a table of counters with what they come to in the place of what is added. No
   * static counter is deleted alone, and none is deleted and added to: {@link StrongRefusals}.
   *
   * @param micros above all timestamps that the partition has
   */
  static PartitionUpdate counted(PartitionUpdate update, long micros, long nowInSeconds) {
    if (!update.hasRows() && update.staticRow().isEmpty()) {
      return update;
    }
    DecidedCounters decided = new DecidedCounters(update, micros, nowInSeconds);
    // Of all columns: a row that is deleted for one of its counters keeps the others.
    return ListCellPaths.rewritten(
        update, update.metadata().regularAndStaticColumns(), decided::counted);
  }

  private Row counted(Row row) {
    boolean isCleared = isCleared(row);
    Row had = isCleared ? null : before.of(row);
    boolean isDeletingSome = !isCleared && deletesCells(row);
    Row.Builder made = BTreeRow.unsortedBuilder();
    made.newRow(row.clustering());
    made.addRowDeletion(isDeletingSome ? deletion() : row.deletion());
    for (Cell<?> cell : row.cells()) {
      if (!cell.isTombstone()) { // A tombstone would hide all that is added later.
        made.addCell(added(cell, had));
      }
    }
    if (isDeletingSome && had != null) {
      for (Cell<?> cell : had.cells()) {
        if (row.getCell(cell.column()) == null) {
          made.addCell(live(cell.column(), cell.buffer()));
        }
      }
    }
    return made.build();
  }

  /** Whether the update itself deletes what the row was before. */
  private boolean isCleared(Row row) {
    DeletionInfo deletions = update.deletionInfo();
    return !row.deletion().isLive()
        || !deletions.getPartitionDeletion().isLive()
        || (row.clustering() != Clustering.STATIC_CLUSTERING
            && deletions.rangeCovering(row.clustering()) != null);
  }

  private static boolean deletesCells(Row row) {
    for (Cell<?> cell : row.cells()) {
      if (cell.isTombstone()) {
        return true;
      }
    }
    return false;
  }

  /** Below the cells of the same entry, as it is in the log, too. */
  private Row.Deletion deletion() {
    return Row.Deletion.regular(DeletionTime.build(micros - 1, nowInSeconds));
  }

  /** Shards that are not the log's, of files that somebody has brought here, stay beside it. */
  private Cell<?> added(Cell<?> addition, Row had) {
    Cell<?> old = had == null ? null : had.getCell(addition.column());
    ClockAndCount ours =
        old == null ? ClockAndCount.BLANK : CONTEXT.getClockAndCountOf(old.buffer(), LOG);
    ByteBuffer sum =
        CONTEXT.createGlobal(
            LOG, Math.max(micros, ours.clock + 1), ours.count + CONTEXT.total(addition));
    return live(addition.column(), old == null ? sum : CONTEXT.merge(old.buffer(), sum));
  }

  private Cell<?> live(ColumnMetadata column, ByteBuffer value) {
    return BufferCell.live(column, micros, value);
  }
}
