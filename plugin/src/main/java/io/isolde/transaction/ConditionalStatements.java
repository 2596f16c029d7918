// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.answer.Answers;
import io.isolde.apply.Denylist;
import io.isolde.apply.ListCellPaths;
import io.isolde.apply.Stamp;
import io.isolde.apply.StrongTables;
import io.isolde.conflict.ReadSet;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.IsolationLevel;
import io.isolde.read.OwnWrites;
import io.isolde.read.Snapshot;
import io.isolde.replicated.Oracle;
import io.isolde.statement.ConditionalWrites;
import io.isolde.statement.Request;
import io.isolde.statement.Write;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.apache.cassandra.config.DatabaseDescriptor;
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
 * Runs statements and batches with IF on transactional tables: in a transaction, or as a
 * transaction of one statement. {@code docs/conflicts.md} has the rules.
 */
public final class ConditionalStatements {
  private final Oracle oracle;
  private final Committer committer;
  private final InDoubt inDoubt;
  private final StrongTables strong;
  private final TransactionListener listener;
  private final HotPartitions hot = new HotPartitions();

  ConditionalStatements(
      Oracle oracle,
      Committer committer,
      InDoubt inDoubt,
      StrongTables strong,
      TransactionListener listener) {
    this.oracle = oracle;
    this.committer = committer;
    this.inDoubt = inDoubt;
    this.strong = strong;
    this.listener = listener;
  }

  /**
   * Decides in a transaction: in its snapshot, with its own writes. What the conditions read, they
   * read at every level, whether they hold or not.
   */
  public ResultMessage.Rows write(
      Transaction transaction, List<Write> writes, boolean isBatch, Request request) {
    DataStatements.check(transaction, writes, request);
    transaction.enter();
    try {
      DataStatements.requireSame(transaction, writes);
      Attempt attempt =
          new Attempt(
              transaction.id(),
              transaction.startTimestamp(),
              transaction.writes(),
              transaction.reads(),
              request);
      long nowInSeconds = transaction.nowInSeconds();
      ConditionalWrites conditional = bind(writes, isBatch, nowInSeconds, request);
      ConditionalWrites.Outcome outcome = conditional.decide(attempt::read);
      if (outcome.holds()) {
        List<PartitionUpdate> all = new ArrayList<>();
        long timestamp = transaction.writes().nextTimestamp(transaction.startTimestamp());
        outcome.updates().forEach(update -> all.add(provisional(timestamp, update)));
        all.addAll(DataStatements.updates(transaction, conditional.others(), request));
        Denylist.checkWrites(all);
        transaction.writes().add(all);
      }
      return outcome.answer();
    } finally {
      transaction.leave();
    }
  }

  private static PartitionUpdate provisional(long timestamp, PartitionUpdate update) {
    return ListCellPaths.at(
        timestamp, new PartitionUpdate.Builder(update, 0).updateAllTimestamp(timestamp).build());
  }

  /**
   * Decides outside of a transaction, linearizably. If others write meanwhile what the conditions
   * have read, decides again, for as long as Cassandra would: nobody has seen anything of it.
   *
   * @throws IsoldeException CONFLICT, if others always were faster; as a commit and as a read
   */
  public ResultMessage.Rows write(List<Write> writes, boolean isBatch, Request request) {
    DataStatements.check(writes);
    ClientTimestamps.warnIfIgnored(writes, request);
    long maxNanos = DatabaseDescriptor.getCasContentionTimeout(TimeUnit.NANOSECONDS);
    long deadlineNanos = System.nanoTime() + maxNanos;
    Write first = writes.get(0);
    ByteBuffer key = first.partitionKey(request.state().getClientState());
    try (HotPartitions.Stay stay = hot.enter(first.statement().metadata().id, key, maxNanos)) {
      return write(writes, isBatch, request, deadlineNanos);
    }
  }

  private ResultMessage.Rows write(
      List<Write> writes, boolean isBatch, Request request, long deadlineNanos) {
    // What this node knows of costs nothing. If the conditions hold there, the oracle checks them.
    boolean isNewest = false;
    while (true) {
      long snapshot = isNewest ? oracle.stable() : oracle.stableSoFar();
      try {
        ConditionalWrites.Outcome outcome = commit(snapshot, writes, isBatch, request);
        if (outcome.holds() || isNewest) {
          return outcome.answer();
        }
      } catch (IsoldeException e) {
        boolean mayPass =
            e.errorCode() == ErrorCode.CONFLICT
                || e.errorCode() == ErrorCode.CONFLICT_FORGOTTEN
                || SnapshotErrors.mayPass(e);
        if (!mayPass || System.nanoTime() >= deadlineNanos) {
          throw e;
        }
        listener.decidedAgain();
      }
      isNewest = true;
    }
  }

  /** Decides as of a snapshot, and commits if the conditions hold and nothing has changed since. */
  private ConditionalWrites.Outcome commit(
      long snapshot, List<Write> writes, boolean isBatch, Request request) {
    long nowInSeconds = DataStatements.nowInSeconds(writes.get(0).options(), snapshot, request);
    ReadSet reads = new ReadSet(Integer.MAX_VALUE); // As many as the statements.
    Attempt attempt = new Attempt(null, snapshot, OwnWrites.NONE, reads, request);
    ConditionalWrites conditional = bind(writes, isBatch, nowInSeconds, request);
    ConditionalWrites.Outcome outcome = conditional.decide(attempt::read);
    if (outcome.holds()) {
      List<PartitionUpdate> all = new ArrayList<>(outcome.updates());
      if (!conditional.others().isEmpty()) {
        all.addAll(DataStatements.together(conditional.others(), snapshot, request));
      }
      Denylist.checkWrites(all);
      var unused =
          Answers.await(committer.commit(null, IsolationLevel.SERIALIZABLE, snapshot, reads, all));
    }
    return outcome;
  }

  private static ConditionalWrites bind(
      List<Write> writes, boolean isBatch, long nowInSeconds, Request request) {
    List<Write> atOneTime =
        writes.stream()
            .map(w -> new Write(w.statement(), DataStatements.at(w.options(), nowInSeconds)))
            .toList();
    QueryState state =
        new QueryState(request.state().getClientState(), Stamp.PROVISIONAL_MICROS, nowInSeconds);
    ConditionalWrites conditional = ConditionalWrites.of(atOneTime, isBatch, state);
    conditional.forEachPartition(Denylist::checkConditional);
    return conditional;
  }

  /** One look at what conditions are about. */
  private final class Attempt {
    private final UUID transactionId;
    private final long asOf;
    private final OwnWrites ownWrites;
    private final ReadSet reads;
    private final Request request;

    private Attempt(
        UUID transactionId, long asOf, OwnWrites ownWrites, ReadSet reads, Request request) {
      this.transactionId = transactionId;
      this.asOf = asOf;
      this.ownWrites = ownWrites;
      this.reads = reads;
      this.request = request;
    }

    private FilteredPartition read(SinglePartitionReadCommand command) {
      TableMetadata table = command.metadata();
      Snapshot snapshot =
          new Snapshot(
              asOf,
              Tables.requireTransactional(table),
              ownWrites,
              InDoubtWait.of(inDoubt, asOf, transactionId, reads),
              strong.isStrong(table.keyspace) ? strong::atLeaders : UnaryOperator.identity());
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
