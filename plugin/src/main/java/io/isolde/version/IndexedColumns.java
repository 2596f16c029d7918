// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.cassandra.cql3.statements.schema.IndexTarget;
import org.apache.cassandra.index.TargetParser;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.IndexMetadata;
import org.apache.cassandra.schema.Indexes;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.Pair;

/**
 * The columns of a table that have an index. Commits report to the oracle which values they write
 * to these. So a serializable read by an index conflicts with just the writes that matter to it.
 *
 * <p>Nodes hear of a new or dropped index at different times. So reads rely on an index only some
 * time after this node has heard of it. Writes go on to report a column for a while that has lost
 * its index.
 */
public final class IndexedColumns {
  /** Longer than a change of the schema takes to be known, and a commit to be decided. */
  private static final long UNRELIABLE_MICROS = 2 * VersionClock.MAX_AHEAD_MICROS;

  /** Longer than a transaction is open. */
  private static final long REPORT_MICROS = 3_600_000_000L;

  private static final String OWN_CLASSES = "io.isolde.";

  /** What indexes have among their options that leave values as they are. */
  private static final Set<String> PLAIN_OPTIONS =
      Set.of(IndexTarget.TARGET_OPTION_NAME, IndexTarget.CUSTOM_INDEX_OPTION_NAME);

  /**
   * One column.
   *
   * @param isExact whether values match if they are equal, and only then
   * @param reliableFrom readers as of an earlier timestamp can't rely on what writers report
   * @param reportedUntil no writer needs to report it later; the largest number while it has an
   *     index
   */
  private record Column(boolean isExact, long reliableFrom, long reportedUntil) {
    boolean hasIndex() {
      return reportedUntil == Long.MAX_VALUE;
    }
  }

  private record Known(Indexes indexes, Map<ByteBuffer, Column> columns, boolean isSearched) {}

  private final VersionClock clock;
  private volatile Known known = new Known(Indexes.none(), Map.of(), false);

  IndexedColumns(VersionClock clock) {
    this.clock = clock;
  }

  /** Looks whether the indexes have changed. */
  @SuppressWarnings("ReferenceEquality") // a cheap look: each change makes another object
  void follow(TableMetadata table) {
    if (table.indexes != known.indexes) {
      change(table);
    }
  }

  private synchronized void change(TableMetadata table) {
    long now = clock.latestTimestamp();
    Map<ByteBuffer, Column> columns = new HashMap<>();
    boolean isSearched = false;
    for (IndexMetadata index : table.indexes) {
      if (isOfIsolde(index)) {
        continue; // No replica looks for rows by it.
      }
      isSearched = true;
      ColumnMetadata column = columnOf(index, table);
      if (column != null) {
        columns.merge(
            column.name.bytes,
            new Column(isExact(index), reliableFrom(column, now), Long.MAX_VALUE),
            (one, other) -> one.isExact ? other : one);
      }
    }
    known.columns.forEach(
        (name, column) -> {
          long until = column.hasIndex() ? now + REPORT_MICROS : column.reportedUntil;
          if (until > now) {
            columns.putIfAbsent(name, new Column(column.isExact, column.reliableFrom, until));
          }
        });
    known = new Known(table.indexes, Map.copyOf(columns), isSearched);
  }

  private long reliableFrom(ColumnMetadata column, long now) {
    Column before = known.columns.get(column.name.bytes);
    return before != null && before.hasIndex() ? before.reliableFrom : now + UNRELIABLE_MICROS;
  }

  private static boolean isOfIsolde(IndexMetadata index) {
    String custom = index.options.get(IndexTarget.CUSTOM_INDEX_OPTION_NAME);
    return custom != null && custom.startsWith(OWN_CLASSES);
  }

  /** Returns null for an index of no column. */
  private static ColumnMetadata columnOf(IndexMetadata index, TableMetadata table) {
    String target = index.options.get(IndexTarget.TARGET_OPTION_NAME);
    Pair<ColumnMetadata, IndexTarget.Type> parsed =
        target == null ? null : TargetParser.parse(table, target);
    return parsed == null ? null : parsed.left;
  }

  private static boolean isExact(IndexMetadata index) {
    return PLAIN_OPTIONS.containsAll(index.options.keySet());
  }

  /** Whether replicas look for rows by any index of the table. */
  boolean isSearched() {
    return known.isSearched;
  }

  /** The names of the columns whose values commits report. */
  public Set<ByteBuffer> reported() {
    return known.columns.keySet();
  }

  /** Whether all writes to a column that were committed after a timestamp have reported it. */
  public boolean isReportedSince(ColumnMetadata column, long timestamp) {
    Column indexed = known.columns.get(column.name.bytes);
    return indexed != null && indexed.hasIndex() && timestamp >= indexed.reliableFrom;
  }

  /** Whether a column has an index now. */
  public boolean isIndexed(ColumnMetadata column) {
    Column indexed = known.columns.get(column.name.bytes);
    return indexed != null && indexed.hasIndex();
  }

  /** Whether an index of a column compares values for equality, and nothing else. */
  public boolean isExact(ColumnMetadata column) {
    Column indexed = known.columns.get(column.name.bytes);
    return indexed != null && indexed.isExact;
  }
}
