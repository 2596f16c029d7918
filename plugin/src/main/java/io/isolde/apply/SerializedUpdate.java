// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import java.io.IOException;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.DeserializationHelper;
import org.apache.cassandra.exceptions.UnknownColumnException;
import org.apache.cassandra.exceptions.UnknownTableException;
import org.apache.cassandra.io.util.DataInputBuffer;

/** An update of a partition in Cassandra's own format. */
public final class SerializedUpdate {
  /** Of a column that it does not know Cassandra 5.0 tells so, and by nothing else. */
  private static final String UNKNOWN_COLUMN = "Unknown column ";

  private SerializedUpdate() {}

  /**
   * Reads one.
   *
   * @param version of the format
   * @throws UnknownTableException if this node does not know the table
   * @throws UnknownColumnException if it does not know a column, nor that it was dropped
   */
  public static PartitionUpdate read(DataInputBuffer in, int version) throws IOException {
    try {
      return PartitionUpdate.serializer.deserialize(
          in, version, DeserializationHelper.Flag.FROM_REMOTE);
    } catch (RuntimeException e) {
      if (e.getMessage() != null && e.getMessage().startsWith(UNKNOWN_COLUMN)) {
        UnknownColumnException unknown = new UnknownColumnException(e.getMessage());
        unknown.initCause(e);
        throw unknown;
      }
      throw e;
    }
  }
}
