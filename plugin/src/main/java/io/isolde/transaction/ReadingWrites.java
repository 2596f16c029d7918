// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.answer.Answers;
import io.isolde.apply.Denylist;
import io.isolde.apply.ListCellPaths;
import io.isolde.apply.Stamp;
import io.isolde.apply.StrongTables;
import io.isolde.conflict.ReadSet;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.IsolationLevel;
import io.isolde.read.OwnWrites;
import io.isolde.read.Snapshot;
import io.isolde.statement.BoundWrite;
import io.isolde.statement.ClientRequest;
import io.isolde.statement.ConditionalWrites;
import io.isolde.statement.WriteMoment;
import io.isolde.unique.EntryChanges;
import io.isolde.unique.UniqueEntry;
import io.isolde.unique.UniqueKey;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.partitions.FilteredPartition;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.partitions.PartitionIterators;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.transport.messages.ResultMessage;

/**
 * Runs writes that read first, on transactional tables: IF, additions to numbers, operations on
 * lists by index or value, and writes to columns of unique indexes. In a transaction, or as a
 * transaction of one statement. {@code docs/conflicts.md} has the rules.
 */
public final class ReadingWrites {
  private final Attempts attempts;
  private final Committer committer;
  private final InDoubt inDoubt;
  private final StrongTables strong;
  private final HotPartitions hot;

  ReadingWrites(
      Attempts attempts,
      Committer committer,
      InDoubt inDoubt,
      StrongTables strong,
      HotPartitions hot) {
    this.attempts = attempts;
    this.committer = committer;
    this.inDoubt = inDoubt;
    this.strong = strong;
    this.hot = hot;
  }

  /**
   * Decides in a transaction: in its snapshot, with its own writes. What the conditions read, they
   * read at every level, whether they hold or not. If it fails, so must the transaction.
   */
  public ResultMessage write(
      Transaction transaction, List<BoundWrite> writes, boolean isBatch, ClientRequest request) {
    DataStatements.check(transaction, writes, request);
    transaction.enterWriting();
    try {
      DataStatements.requireSame(transaction, writes);
      Look look =
          new Look(
              transaction.id(),
              transaction.startTimestamp(),
              transaction.nowInSeconds(),
              transaction.reads(),
              request);
      return write(look, transaction.writes(), transaction.startTimestamp(), writes, isBatch);
    } catch (RuntimeException | Error e) {
      transaction.fail(Transactions.aborted(e)); // Before anybody else: a part may be buffered.
      throw e;
    } finally {
      transaction.leaveWriting();
    }
  }

  /**
   * Decides, and buffers what is written.
   *
   * @param buffer what was written before, which is seen
   * @param base below the provisional timestamps of what is written
   */
  private static ResultMessage write(
      Look look, WriteBuffer buffer, long base, List<BoundWrite> writes, boolean isBatch) {
    Function<SinglePartitionReadCommand, FilteredPartition> read =
        command -> look.at(command, buffer);
    ConditionalWrites conditional =
        ConditionalWrites.of(look.atOneTime(writes), isBatch, look.state(base));
    conditional.forEachPartition(Denylist::checkConditional);
    ConditionalWrites.Outcome outcome = conditional.decide(read);
    if (outcome.holds()) {
      EntryChanges entries = new EntryChanges();
      if (!outcome.found().isEmpty()) {
        add(conditional.updates(outcome, look.next(base, buffer), read), entries, buffer);
      }
      for (BoundWrite other : conditional.others()) {
        add(look.updates(other, look.next(base, buffer), read), entries, buffer);
      }
      addEntries(entries, look, base, buffer);
    }
    return outcome.answer();
  }

  private static void add(List<PartitionUpdate> updates, EntryChanges entries, WriteBuffer buffer) {
    Denylist.checkWrites(updates);
    for (PartitionUpdate update : updates) {
      entries.add(update, buffer.of(update.metadata().id, update.partitionKey()));
    }
    buffer.add(updates);
  }

  private static void addEntries(EntryChanges entries, Look look, long base, WriteBuffer buffer) {
    if (!entries.isEmpty()) {
      long timestamp = look.next(base, buffer).state().getTimestamp();
      buffer.add(entries.entries(look.reads(buffer), timestamp, look.secondsOfSnapshot()));
    }
  }

  /**
   * Decides outside of a transaction, linearizably. If others write meanwhile what the conditions
   * have read, decides again, for as long as Cassandra would: nobody has seen anything of it.
   *
   * @throws IsoldeException CONFLICT, if others always were faster; as a commit and as a read
   */
  public ResultMessage write(List<BoundWrite> writes, boolean isBatch, ClientRequest request) {
    DataStatements.check(writes);
    ClientTimestamps.warnIfIgnored(writes, request);
    long deadlineNanos = Attempts.deadlineNanos();
    try (HotPartitions.Stay stay =
        hot.enter(writes.stream(), request.state().getClientState(), deadlineNanos)) {
      return attempts.decide(
          true,
          deadlineNanos,
          stay,
          (snapshot, isNewest) -> {
            WriteBuffer buffer = new WriteBuffer(Long.MAX_VALUE, CommitMemory.unbounded());
            ResultMessage answer = commit(snapshot, buffer, writes, isBatch, request);
            return buffer.isEmpty() && !isNewest ? Optional.empty() : Optional.of(answer);
          });
    }
  }

  /** Decides as of a snapshot, and commits what is written if nothing has changed since. */
  private ResultMessage commit(
      long snapshot,
      WriteBuffer buffer,
      List<BoundWrite> writes,
      boolean isBatch,
      ClientRequest request) {
    long nowInSeconds = DataStatements.nowInSeconds(writes.get(0).options(), snapshot, request);
    ReadSet reads = new ReadSet(Integer.MAX_VALUE); // As many as the statements.
    Look look = new Look(null, snapshot, nowInSeconds, reads, request);
    ResultMessage answer = write(look, buffer, Stamp.PROVISIONAL_MICROS, writes, isBatch);
    commit(snapshot, reads, buffer);
    return answer;
  }

  private void commit(long snapshot, ReadSet reads, WriteBuffer buffer) {
    if (!buffer.isEmpty()) {
      var unused =
          Answers.await(
              committer.commit(null, IsolationLevel.SERIALIZABLE, snapshot, reads, buffer.all()));
    }
  }

  /**
   * Gives rows their entries of an index that is built; those that have gone need none.
   *
   * @throws IsoldeException UNIQUE_VIOLATION; as {@link #write}
   */
  void addEntries(UniqueKey index, List<UniqueEntry.Owner> rows, ClientRequest request) {
    var unused =
        attempts.decide(
            false,
            Attempts.deadlineNanos(),
            HotPartitions.Stay.NONE,
            (snapshot, isNewest) -> {
              addEntries(index, rows, snapshot, request);
              return Optional.of(snapshot);
            });
  }

  private void addEntries(
      UniqueKey index, List<UniqueEntry.Owner> rows, long snapshot, ClientRequest request) {
    WriteBuffer buffer = new WriteBuffer(Long.MAX_VALUE, CommitMemory.unbounded());
    long nowInSeconds = TimeUnit.MICROSECONDS.toSeconds(snapshot);
    ReadSet reads = new ReadSet(Integer.MAX_VALUE);
    Look look = new Look(null, snapshot, nowInSeconds, reads, request);
    EntryChanges entries = new EntryChanges();
    for (UniqueEntry.Owner row : rows) {
      FilteredPartition found = look.at(index.read(row, nowInSeconds), OwnWrites.NONE);
      entries.addExisting(index, row.key(), found.getRow(row.clustering()));
    }
    addEntries(entries, look, Stamp.PROVISIONAL_MICROS, buffer);
    commit(snapshot, reads, buffer);
  }

  /** One look at what is read, as of one moment. */
  private final class Look {
    private final UUID transactionId;
    private final long asOf;
    private final long nowInSeconds;
    private final ReadSet reads;
    private final ClientRequest request;

    private Look(
        UUID transactionId, long asOf, long nowInSeconds, ReadSet reads, ClientRequest request) {
      this.transactionId = transactionId;
      this.asOf = asOf;
      this.nowInSeconds = nowInSeconds;
      this.reads = reads;
      this.request = request;
    }

    private QueryState state(long timestamp) {
      return new QueryState(request.state().getClientState(), timestamp, nowInSeconds);
    }

    private List<BoundWrite> atOneTime(List<BoundWrite> writes) {
      return writes.stream()
          .map(w -> new BoundWrite(w.statement(), DataStatements.at(w.options(), nowInSeconds)))
          .toList();
    }

    /** The moment of the next statement, which sees what those before it have written. */
    private WriteMoment next(long base, WriteBuffer buffer) {
      long timestamp = buffer.nextTimestamp(base);
      return new WriteMoment(state(timestamp), asOf, asOf + (timestamp - base));
    }

    /** What a statement writes that has no part in conditions. */
    private List<PartitionUpdate> updates(
        BoundWrite write,
        WriteMoment moment,
        Function<SinglePartitionReadCommand, FilteredPartition> read) {
      if (write.readsWithoutCondition()) {
        return ConditionalWrites.updates(write, moment, read);
      }
      List<PartitionUpdate> updates =
          DataStatements.updates(write, moment.state().getTimestamp(), nowInSeconds, request);
      updates.replaceAll(update -> ListCellPaths.at(moment.placeMicros(), update));
      return updates;
    }

    /**
     * What has ended is judged by the order of commits. By the clock of a node, or a time that a
     * client names, one could take a value that another row still has for others.
     */
    private long secondsOfSnapshot() {
      return TimeUnit.MICROSECONDS.toSeconds(asOf);
    }

    private EntryChanges.Reads reads(WriteBuffer buffer) {
      return new EntryChanges.Reads() {
        @Override
        public FilteredPartition before(SinglePartitionReadCommand command, PartitionUpdate own) {
          return at(command, own == null ? OwnWrites.NONE : OwnWrites.only(own));
        }

        @Override
        public FilteredPartition after(SinglePartitionReadCommand command) {
          return at(command, buffer);
        }
      };
    }

    private FilteredPartition at(SinglePartitionReadCommand command, OwnWrites ownWrites) {
      TableMetadata table = command.metadata();
      Snapshot snapshot =
          new Snapshot(
              asOf,
              Tables.requireTransactional(table),
              ownWrites,
              InDoubtWait.of(inDoubt, asOf, transactionId, reads),
              strong.isStrong(table.keyspace) ? strong::atLeaders : Snapshot.FROM_REPLICAS);
      return SnapshotErrors.reading(
          table,
          snapshot,
          transactionId,
          () -> {
            try (PartitionIterator found =
                snapshot
                    .of(command)
                    .execute(
                        ConsistencyLevel.QUORUM,
                        request.state().getClientState(),
                        request.requestTime())) {
              return FilteredPartition.create(PartitionIterators.getOnlyElement(found, command));
            }
          });
    }
  }
}
