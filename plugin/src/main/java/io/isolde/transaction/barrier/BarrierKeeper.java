// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction.barrier;

import io.isolde.peers.JsonMessages;
import io.isolde.peers.SchemaPull;
import io.isolde.unique.UniqueKey;
import io.isolde.version.ConflictUnit;
import io.isolde.version.DroppedColumns;
import io.isolde.version.NodeVersions;
import io.isolde.version.VersionIndex;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/** Does on this node what a change of a table's mode asks of every node. */
final class BarrierKeeper {
  private static final long SCHEMA_WAIT_MILLIS = 5_000;
  private static final long PAXOS_WAIT_MILLIS = 10_000;
  private static final long PULL_AFTER_MILLIS = 500;
  private static final long LOOK_MILLIS = 10;

  private final TableBarrier barrier;
  private final LongPredicate secure;

  /**
   * @param secure whether no commit up to a timestamp is applied on this node again
   */
  BarrierKeeper(TableBarrier barrier, LongPredicate secure) {
    this.barrier = barrier;
    this.secure = secure;
  }

  byte[] answer(byte[] bytes) {
    try {
      return JsonMessages.bytes(answer(JsonMessages.read(bytes, BarrierRequest.class)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  private BarrierRequest.Answer answer(BarrierRequest request) throws InterruptedException {
    TableId table = TableId.fromUUID(request.table());
    return switch (request.kind()) {
      case CLOSE -> close(table, request);
      case HOLD ->
          barrier.close(table, request.change(), request.leaseMillis())
              ? BarrierRequest.Answer.DONE
              : BarrierRequest.Answer.REFUSED;
      case SECURE -> new BarrierRequest.Answer(secure.test(request.upTo()), Long.MIN_VALUE);
      case FINISH_PAXOS -> new BarrierRequest.Answer(finishPaxos(table), Long.MIN_VALUE);
      case BEGIN_ANEW -> new BarrierRequest.Answer(hasBegunAnew(table, request), Long.MIN_VALUE);
      case BEGIN_WRITES_ANEW ->
          new BarrierRequest.Answer(haveWritesBegunAnew(table, request), Long.MIN_VALUE);
      case NEWEST -> new BarrierRequest.Answer(true, newestTimestamp(table));
      case FOLLOW -> new BarrierRequest.Answer(isHeard(table, request), Long.MIN_VALUE);
      case OPEN -> {
        barrier.open(table, request.change());
        yield BarrierRequest.Answer.DONE;
      }
    };
  }

  private BarrierRequest.Answer close(TableId table, BarrierRequest request) {
    if (!barrier.close(table, request.change(), request.leaseMillis())) {
      return BarrierRequest.Answer.REFUSED;
    }
    return barrier.awaitStatements(table)
        ? BarrierRequest.Answer.DONE
        : BarrierRequest.Answer.REFUSED;
  }

  private static boolean finishPaxos(TableId table) throws InterruptedException {
    TableMetadata known = Schema.instance.getTableMetadata(table);
    return known == null || UnfinishedPaxos.finish(known, PAXOS_WAIT_MILLIS);
  }

  private static boolean hasBegunAnew(TableId table, BarrierRequest request) {
    VersionIndex versions = NodeVersions.ofThisNode().of(table);
    if (versions == null) {
      return false;
    }
    versions.beginAnew(request.upTo());
    return true;
  }

  private static boolean haveWritesBegunAnew(TableId table, BarrierRequest request)
      throws InterruptedException {
    VersionIndex versions = isHeard(table, request) ? NodeVersions.ofThisNode().of(table) : null;
    if (versions != null) {
      versions.refuseOlderWriters(request.upTo());
    }
    return versions != null;
  }

  private static long newestTimestamp(TableId table) {
    ColumnFamilyStore store = Schema.instance.getColumnFamilyStoreInstance(table);
    if (store == null) {
      return Long.MIN_VALUE; // This node has yet to hear of it, so it has nothing of it.
    }
    store.forceBlockingFlush(ColumnFamilyStore.FlushReason.USER_FORCED);
    long newest = Long.MIN_VALUE;
    for (SSTableReader sstable : store.getLiveSSTables()) {
      newest = Math.max(newest, sstable.getMaxTimestamp());
    }
    return newest;
  }

  private static boolean isHeard(TableId table, BarrierRequest request)
      throws InterruptedException {
    long start = System.nanoTime();
    boolean hasPulled = false;
    while (!isKnown(table, request)) {
      long waitedMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      if (waitedMillis > SCHEMA_WAIT_MILLIS) {
        return false;
      }
      if (waitedMillis > PULL_AFTER_MILLIS && !hasPulled) {
        SchemaPull.from(request.coordinator());
        hasPulled = true;
      }
      Thread.sleep(LOOK_MILLIS);
    }
    return true;
  }

  private static boolean isKnown(TableId table, BarrierRequest request) {
    TableMetadata known = Schema.instance.getTableMetadata(table);
    return isTransactional(table) == request.isTransactional()
        && (known == null
            || (ConflictUnit.of(known) == request.conflicts()
                && DroppedColumns.newestMicros(known) >= request.droppedMicros()
                && uniqueIndexes(known).equals(request.uniqueIndexes())
                && UniqueKey.of(known).stream().allMatch(BarrierKeeper::hasEntries)));
  }

  /** A table is in the schema before this node can be asked for it. */
  private static boolean hasEntries(UniqueKey index) {
    return isTransactional(index.entriesId())
        && Schema.instance.getColumnFamilyStoreInstance(index.entriesId()) != null;
  }

  /** The ids of the tables of their entries, which no other index ever has. */
  static List<String> uniqueIndexes(TableMetadata table) {
    return UniqueKey.of(table).stream()
        .map(index -> index.entriesId().toString())
        .sorted()
        .toList();
  }

  static boolean isTransactional(TableId table) {
    return NodeVersions.ofThisNode().of(table) != null;
  }
}
