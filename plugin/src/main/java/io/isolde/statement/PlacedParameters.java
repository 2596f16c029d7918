// SPDX-License-Identifier: Apache-2.0
package io.isolde.statement;

import io.isolde.apply.ListCellPaths;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.cassandra.cql3.UpdateParameters;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.partitions.Partition;
import org.apache.cassandra.db.rows.Cell;
import org.apache.cassandra.db.rows.CellPath;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.schema.ColumnMetadata;

/**
 * Has new elements of lists stand outside of all others from the beginning, whatever this node's
 * clock says: later operations of the statement count them.
 */
final class PlacedParameters extends UpdateParameters {
  /** New elements at one moment. */
  static final class Places {
    private final long micros;
    private final Set<CellPath> given = new HashSet<>();
    private int behind;
    private int inFront;

    Places(long micros) {
      this.micros = micros;
    }

    private CellPath next(CellPath byClock) {
      CellPath next =
          ListCellPaths.isInFront(byClock)
              ? ListCellPaths.inFront(micros, inFront++)
              : ListCellPaths.behind(micros, behind++);
      given.add(next);
      return next;
    }
  }

  private final Partition found;
  private final Places places;

  /**
   * Makes them.
   *
   * @param found the rows that the statement reads
   */
  PlacedParameters(BoundWrite write, WriteMoment moment, Partition found, Places places) {
    this(write, moment, Map.of(found.partitionKey(), found), found, places);
  }

  private PlacedParameters(
      BoundWrite write,
      WriteMoment moment,
      Map<DecoratedKey, Partition> prefetched,
      Partition found,
      Places places) {
    super(
        write.statement().metadata(),
        write.statement().updatedColumns(),
        moment.state().getClientState(),
        write.options(),
        moment.state().getTimestamp(),
        moment.state().getNowInSeconds(),
        write.statement().getTimeToLive(write.options()),
        prefetched);
    this.found = found;
    this.places = places;
  }

  @Override
  public Cell<?> addCell(ColumnMetadata column, CellPath path, ByteBuffer value) {
    boolean isNew = path != null && ListCellPaths.isList(column) && !isThere(column, path);
    return super.addCell(column, isNew ? places.next(path) : path, value);
  }

  private boolean isThere(ColumnMetadata column, CellPath path) {
    return places.given.contains(path) || cell(found, currentClustering(), column, path) != null;
  }

  /** An element of a list in a row that was read; null if it has none. */
  static Cell<?> cell(
      Partition found, Clustering<?> clustering, ColumnMetadata column, CellPath path) {
    Row row = found.getRow(clustering);
    return row == null ? null : row.getCell(column, path);
  }
}
