// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.read;

import io.isolde.config.TransactionSettings;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.snapshot.SnapshotTag;
import io.isolde.snapshot.table.SnapshotCatalog;
import io.isolde.transaction.Transactions;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.transport.messages.ResultMessage;

/**
 * START TRANSACTION READ ONLY AS OF SNAPSHOT: SELECTs on tables read a snapshot of them instead. A
 * snapshot does not change, so there is nothing to decide, and the oracle hears nothing of them. No
 * replica keeps anything for them, so they may take hours: only idle ones end by themselves.
 * Thread-safe and bounded.
 */
public final class SnapshotTransactions {
  private final TransactionSettings settings;
  private final LongSupplier nowMillis;
  private final Map<UUID, Open> open = new ConcurrentHashMap<>();

  public SnapshotTransactions(TransactionSettings settings, LongSupplier nowMillis) {
    this.settings = settings;
    this.nowMillis = nowMillis;
  }

  /** One that is open. */
  public static final class Open {
    private final SnapshotTag tag;
    private final String user;
    private volatile long usedMillis;

    private Open(SnapshotTag tag, String user, long nowMillis) {
      this.tag = tag;
      this.user = user;
      this.usedMillis = nowMillis;
    }

    /** The moment that it reads, in microseconds since 1970. */
    public long timestampMicros() {
      return tag.timestampMicros();
    }

    /**
     * Reads a table as of the snapshot. Tables of other snapshots can be named as they are, if they
     * are of the same moment.
     *
     * @throws IsoldeException SNAPSHOT_NOT_FOUND
     */
    public ResultMessage.Rows select(
        SelectStatement select,
        QueryOptions options,
        QueryState state,
        Dispatcher.RequestTime requestTime) {
      Optional<SnapshotTag> named = SnapshotTag.of(select.table);
      if (named.isPresent() && named.get().timestampMicros() == timestampMicros()) {
        return SnapshotReads.select(select, options, state, requestTime);
      }
      return SnapshotReads.selectFrom(
          inSnapshot(select.table), select, options, state, requestTime);
    }

    private TableMetadata inSnapshot(TableMetadata table) {
      TableMetadata there =
          Schema.instance.getTableMetadata(
              table.keyspace, SnapshotTag.tableName(table.name, tag.snapshot()));
      if (there == null
          || !SnapshotTag.of(there)
              .map(SnapshotTag::creation)
              .equals(Optional.of(tag.creation()))) {
        throw IsoldeException.of(
            ErrorCode.SNAPSHOT_NOT_FOUND,
            "The table "
                + table
                + " is not in the snapshot "
                + tag.snapshot()
                + " (or the snapshot was dropped), and the transaction reads nothing else.",
            "snapshot",
            tag.snapshot(),
            "table",
            table);
      }
      return there;
    }
  }

  /**
   * Begins one.
   *
   * @throws IsoldeException SNAPSHOT_NOT_FOUND, SNAPSHOT_UNAVAILABLE, TOO_MANY_TRANSACTIONS
   */
  public Open begin(UUID id, String snapshot, String user) {
    open.values().removeIf(this::isOver);
    if (open.size() >= settings.maxOpen()) {
      throw IsoldeException.of(
          ErrorCode.TOO_MANY_TRANSACTIONS,
          "This node has "
              + open.size()
              + " open transactions, as many as it may have; try"
              + " again when some have ended.",
          "limit",
          "max_open_transactions");
    }
    TableMetadata table =
        SnapshotCatalog.find(snapshot)
            .map(found -> found.tables().get(0))
            .orElseThrow(() -> notFound(snapshot));
    SnapshotTag tag = SnapshotReads.requireReady(table);
    Open begun = new Open(tag, user, nowMillis.getAsLong());
    Open existing = open.putIfAbsent(id, begun);
    if (existing != null
        && !(existing.user.equals(user) && existing.tag.creation().equals(tag.creation()))) {
      throw Transactions.openOtherwise(id);
    }
    return existing == null ? begun : existing;
  }

  /** There is no snapshot of this name. */
  public static IsoldeException notFound(String snapshot) {
    return IsoldeException.of(
        ErrorCode.SNAPSHOT_NOT_FOUND,
        "There is no snapshot " + snapshot + "; isolde.snapshots lists those that there are.",
        "snapshot",
        snapshot);
  }

  /** An open one of this user. */
  public Optional<Open> find(UUID id, String user) {
    Open found = open.isEmpty() ? null : open.get(id);
    if (found == null || !found.user.equals(user)) {
      return Optional.empty();
    }
    if (isOver(found)) {
      open.remove(id, found);
      return Optional.empty();
    }
    found.usedMillis = nowMillis.getAsLong();
    return Optional.of(found);
  }

  private boolean isOver(Open one) {
    return nowMillis.getAsLong() - one.usedMillis > settings.maxIdleMillis();
  }

  /** Ends one; empty if it was not open. */
  public Optional<Open> end(UUID id, String user) {
    Optional<Open> found = find(id, user);
    found.ifPresent(one -> open.remove(id, one));
    return found;
  }
}
