// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.read.Snapshot;
import io.isolde.version.SnapshotTooOldException;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.apache.cassandra.exceptions.ReadFailureException;
import org.apache.cassandra.exceptions.RequestFailureReason;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;

/** The errors of reads of snapshots, as their clients get them. */
final class SnapshotErrors {
  /** A detail of the error of a read that met a change of the schema. */
  private static final String CHANGING = "schema_changes";

  private SnapshotErrors() {}

  /**
   * Runs a read of a table.
   *
   * @param transactionId null for a single statement
   * @throws IsoldeException SNAPSHOT_TOO_OLD, NOT_TRANSACTIONAL, UNAVAILABLE
   */
  static <T> T reading(
      TableMetadata table, Snapshot snapshot, UUID transactionId, Supplier<T> read) {
    Tables.requireSame(table, snapshot.asOf(), transactionId);
    throwIfTooOld(snapshot, null);
    try {
      return read.get();
    } catch (ReadFailureException e) {
      throwIfChanged(table, e);
      throwIfTooOld(snapshot, e);
      if (e.failureReasonByEndpoint.containsValue(RequestFailureReason.UNKNOWN)) {
        // A replica that can't vouch for that past, as after its restart, can't say so either.
        throw TooOld.elsewhere(snapshot.versions(), snapshot.asOf(), e);
      }
      throw e;
    } catch (SnapshotTooOldException e) {
      throw TooOld.than(snapshot.versions(), snapshot.asOf(), e.horizon());
    }
  }

  /** Whether a single statement that reads a newer snapshot may not get this error again. */
  static boolean mayPass(IsoldeException error) {
    return error.errorCode() == ErrorCode.SNAPSHOT_TOO_OLD || error.details().containsKey(CHANGING);
  }

  /** While nodes learn of a new schema one after the other, some can't read what others ask for. */
  private static void throwIfChanged(TableMetadata asked, ReadFailureException failure) {
    TableMetadata now = Schema.instance.getTableMetadata(asked.id);
    boolean isBehind =
        failure.failureReasonByEndpoint.containsValue(RequestFailureReason.INCOMPATIBLE_SCHEMA);
    if (!isBehind && asked.equals(now)) {
      return;
    }
    IsoldeException changed =
        IsoldeException.of(
            now == null ? ErrorCode.NOT_TRANSACTIONAL : ErrorCode.UNAVAILABLE,
            now == null
                ? "The table " + asked + " was dropped while it was read."
                : "The schema of "
                    + asked
                    + " changes just now, and not all of its replicas know"
                    + " that yet; start again.",
            "table",
            asked,
            CHANGING,
            now == null ? null : true);
    changed.addSuppressed(failure);
    throw changed;
  }

  private static void throwIfTooOld(Snapshot snapshot, RuntimeException cause) {
    Optional<IsoldeException> tooOld = TooOld.here(snapshot.versions(), snapshot.asOf());
    if (tooOld.isPresent()) {
      if (cause != null) {
        tooOld.get().addSuppressed(cause);
      }
      throw tooOld.get();
    }
  }
}
