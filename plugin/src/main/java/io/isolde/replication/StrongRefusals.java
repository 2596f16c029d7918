// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.statement.BoundWrite;
import java.util.List;
import org.apache.cassandra.cql3.Operation;
import org.apache.cassandra.cql3.statements.DeleteStatement;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.schema.KeyspaceMetadata;
import org.apache.cassandra.schema.Schema;

/** Statements that strong keyspaces refuse, and why. */
final class StrongRefusals {
  private StrongRefusals() {}

  /** What a group does not write. */
  static void check(ModificationStatement statement) {
    if (statement.isTimestampSet()) {
      throw refused(
          ErrorCode.UNSUPPORTED_TIMESTAMP,
          "USING TIMESTAMP is not for strong keyspaces: the log's order gives the timestamps.",
          statement);
    }
    KeyspaceMetadata keyspace = Schema.instance.getKeyspaceMetadata(statement.keyspace());
    if (keyspace != null && keyspace.views.forTable(statement.metadata().id).iterator().hasNext()) {
      throw refused(
          ErrorCode.UNSUPPORTED_KEYSPACE,
          "Materialized views are not for strong keyspaces.",
          statement);
    }
  }

  /**
   * A deletion of a column would hide what is added to it, in the batch or, of a static one, ever.
   */
  static void checkCounters(List<BoundWrite> writes) {
    for (BoundWrite write : writes) {
      if (write.statement() instanceof DeleteStatement delete) {
        checkCounters(delete, writes.size() > 1);
      }
    }
  }

  private static void checkCounters(DeleteStatement delete, boolean isInBatch) {
    for (Operation operation : delete.allOperations()) { // None if it deletes rows.
      if (isInBatch) {
        throw refused(
            ErrorCode.UNSUPPORTED_COUNTER,
            "A batch does not delete single counters; delete them in a request of their own.",
            delete);
      }
      if (operation.column.isStatic()) {
        throw refused(
            ErrorCode.UNSUPPORTED_COUNTER,
            "A static counter can't be deleted alone; delete its partition, or subtract its value.",
            delete);
      }
    }
  }

  private static IsoldeException refused(
      ErrorCode code, String sentence, ModificationStatement statement) {
    return IsoldeException.of(code, sentence, "table", statement.metadata());
  }

  /** Groups are read one after the other, and the nearest of the first are not the nearest. */
  static void refuseNearest(SelectStatement select) {
    if (select.getRestrictions().isTopK()) {
      throw IsoldeException.of(
          ErrorCode.UNSUPPORTED_INDEX_QUERY,
          "ORDER BY ... ANN OF on a strong keyspace reads any replica: ask at ONE or LOCAL_ONE.",
          "keyspace",
          select.keyspace());
    }
  }

  /** Only what is decided on is held still, and that is one partition. */
  static IsoldeException listsOfSeveralPartitions(String keyspace) {
    return IsoldeException.of(
        ErrorCode.UNSUPPORTED_KEYSPACE,
        "A batch that sets or deletes elements of lists by index or value writes one partition.",
        "keyspace",
        keyspace);
  }

  static IsoldeException spansGroups(String what, String keyspace) {
    return IsoldeException.of(
        ErrorCode.BATCH_SPANS_GROUPS,
        "The batch writes to "
            + what
            + ", which a strong keyspace can't do at once. Write to one partition, or use a"
            + " transaction (ENABLE TRANSACTIONS).",
        "keyspace",
        keyspace);
  }
}
