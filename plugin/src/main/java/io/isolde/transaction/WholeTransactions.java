// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.answer.Answers;
import io.isolde.config.TransactionSettings;
import io.isolde.conflict.ReadSet;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.IsolationLevel;
import io.isolde.statement.BoundWrite;
import io.isolde.statement.ClientRequest;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.db.partitions.PartitionUpdate;

/**
 * Transactions that come whole, in one request: SERIALIZABLE, and strictly so. Each attempt is a
 * transaction with its own id. Only the requests of their attempts know of them: no other statement
 * finds them, and the oracle hears of them when they commit.
 */
public final class WholeTransactions {
  private static final Transactions.Options OPTIONS =
      new Transactions.Options(IsolationLevel.SERIALIZABLE, false, OptionalLong.empty());

  private final TransactionSettings settings;
  private final Attempts attempts;
  private final Committer committer;
  private final CommitMemory memory;
  private final HotPartitions hot;
  private final TransactionListener listener;

  WholeTransactions(
      TransactionSettings settings,
      Attempts attempts,
      Committer committer,
      CommitMemory memory,
      HotPartitions hot,
      TransactionListener listener) {
    this.settings = settings;
    this.attempts = attempts;
    this.committer = committer;
    this.memory = memory;
    this.hot = hot;
    this.listener = listener;
  }

  /**
   * Runs a transaction and commits it; again after conflicts, for as long as Cassandra would go on
   * with an LWT. Returns when all that begins from then on sees it.
   *
   * @param body what it does between its start and its commit; all of it again in each attempt
   * @param writes as far as they are known; for the partition of the first one it waits until
   *     others on this node are through
   * @throws IsoldeException CONFLICT, if others always were faster; as a commit and as its
   *     statements; nothing is committed, but with APPLY_PENDING and OUTCOME_UNKNOWN
   */
  public <T> T run(
      ClientRequest request,
      QueryOptions options,
      String user,
      boolean mayWrite,
      Stream<BoundWrite> writes,
      Function<Transaction, T> body) {
    long deadlineNanos = Attempts.deadlineNanos();
    try (HotPartitions.Stay stay =
        hot.enter(writes, request.state().getClientState(), deadlineNanos)) {
      return attempts.decide(
          mayWrite,
          deadlineNanos,
          stay,
          (snapshot, isNewest) -> {
            // Snapshots stand still while nobody commits; time does not.
            long nowInSeconds = DataStatements.nowInSeconds(options, snapshot, request);
            return attempt(snapshot, nowInSeconds, isNewest, user, body);
          });
    }
  }

  private <T> Optional<T> attempt(
      long snapshot,
      long nowInSeconds,
      boolean isNewest,
      String user,
      Function<Transaction, T> body) {
    Transaction transaction =
        new Transaction(
            UUID.randomUUID(),
            OPTIONS,
            snapshot,
            nowInSeconds,
            user,
            () -> 0, // It ends with its request, which has its own time.
            new ReadSet(settings.maxReads()),
            new WriteBuffer(settings.maxWriteBytes(), memory));
    try {
      T result = body.apply(transaction);
      List<PartitionUpdate> updates = transaction.writes().all();
      if (updates.isEmpty()) {
        if (isNewest) {
          listener.committedNothing();
        }
        return isNewest ? Optional.of(result) : Optional.empty();
      }
      Transactions.checkTables(transaction, updates);
      transaction.markEnded(); // Its commit counts the same memory.
      var unused =
          Answers.await(
              committer.commit(
                  transaction.id(), transaction.level(), snapshot, transaction.reads(), updates));
      return Optional.of(result);
    } finally {
      transaction.markEnded();
    }
  }
}
