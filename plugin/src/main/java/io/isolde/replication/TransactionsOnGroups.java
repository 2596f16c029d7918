// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import com.google.common.util.concurrent.Uninterruptibles;
import io.isolde.apply.StrongTables;
import io.isolde.config.NodeClock;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.WriteType;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Transactions on strong keyspaces: the writes of a commit are entries of the groups' logs, with
 * the commit's timestamp instead of the log's. The same entry twice does no harm: its cells are the
 * same.
 */
public final class TransactionsOnGroups implements StrongTables {
  private static final Logger logger = LoggerFactory.getLogger(TransactionsOnGroups.class);

  /** So that decisions under way are made again. */
  private static final int[] ALL_PARTITIONS = {};

  private static final long PAUSE_MILLIS = 100;

  private final StrongKeyspaces keyspaces;

  public TransactionsOnGroups(StrongKeyspaces keyspaces) {
    this.keyspaces = keyspaces;
  }

  @Override
  public boolean isStrong(String keyspace) {
    return keyspaces.isMeant(keyspace);
  }

  @Override
  public int maxMutationBytes(String keyspace) {
    return keyspaces.maxPayloadBytes(keyspaces.get(keyspace)) - Payload.HEADER_BYTES;
  }

  @Override
  public CompletableFuture<?> apply(Mutation mutation) {
    StrongKeyspace keyspace = served(mutation.getKeyspaceName());
    int[] keyHashes = {LeaderDecisions.keyHash(mutation.key())};
    Payload.Updates made = Payload.Updates.of(mutation);
    return keyspace
        .client()
        .write(keyspace.targetOf(mutation.key().getToken()), keyHashes, Payload.encode(made), made);
  }

  @Override
  public ReadQuery atLeaders(ReadQuery query) {
    return LeaderQueries.of(query, keyspaces.get(query.metadata().keyspace));
  }

  @Override
  public long newestTimestamp(String name) {
    // A write of nothing gets the newest timestamp of its group's log.
    return writeToAll(name, new Payload.Updates(List.of(), Payload.Timestamps.OF_THE_LOG));
  }

  @Override
  public void passTimestamp(String name, long timestamp) {
    if (isStrong(name)) {
      var unused =
          writeToAll(
              name, new Payload.Updates(List.of(), Payload.Timestamps.OF_A_COMMIT, timestamp));
    }
  }

  @Override
  public void truncate(TableMetadata table, long upTo) {
    GroupTruncations groups = new GroupTruncations(keyspaces.get(table.keyspace));
    Payload.Truncation truncation = new Payload.Truncation(table.id, upTo);
    long deadlineNanos =
        System.nanoTime() + DatabaseDescriptor.getTruncateRpcTimeout(TimeUnit.NANOSECONDS);
    for (GroupTruncations.Step step : GroupTruncations.Step.values()) {
      Map<UUID, Throwable> failed = groups.ask(step, truncation, group -> true);
      while (!failed.isEmpty()) {
        if (System.nanoTime() - deadlineNanos >= 0) {
          throw unanswered(table, failed.values());
        }
        Uninterruptibles.sleepUninterruptibly(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
        failed = groups.ask(step, truncation, failed.keySet()::contains);
      }
    }
  }

  @Override
  public void holdDecisions(TableMetadata table, long millis) {
    long untilMicros = TimeUnit.MILLISECONDS.toMicros(NodeClock.nowMillis() + millis);
    var unused = awaitNewest(hold(table, untilMicros));
  }

  @Override
  public void releaseDecisions(TableMetadata table) {
    if (keyspaces.find(table.keyspace).isEmpty()) {
      return; // It was dropped.
    }
    hold(table, 0)
        .forEach(
            answer -> {
              var unused =
                  answer.whenComplete(
                      (done, failure) -> {
                        if (failure != null) {
                          logger.warn(
                              "A replica group has not heard that {} is not truncated: it may refuse"
                                  + " statements with IF on it for some minutes.",
                              table,
                              failure);
                        }
                      });
            });
  }

  private List<CompletableFuture<Long>> hold(TableMetadata table, long untilMicros) {
    Payload.Hold hold = new Payload.Hold(table.id, untilMicros);
    return writeToAll(table.keyspace, Payload.encode(hold), hold);
  }

  private static IsoldeException unanswered(TableMetadata table, Collection<Throwable> failures) {
    return IsoldeException.of(
        ErrorCode.CHANGE_FAILED,
        "TRUNCATE of %s has no answer of %d replica groups (%s). It may take effect later, or not"
                .formatted(table, failures.size(), failures.iterator().next().getMessage())
            + " at all; send TRUNCATE again until it succeeds.",
        "table",
        table);
  }

  /** Returns the newest of the timestamps that the groups give it. */
  private long writeToAll(String name, Payload.Updates nothing) {
    return awaitNewest(writeToAll(name, Payload.encode(nothing), nothing));
  }

  private List<CompletableFuture<Long>> writeToAll(String name, byte[] payload, Object decoded) {
    StrongKeyspace keyspace = keyspaces.get(name);
    return keyspace.targets().stream()
        .map(target -> keyspace.client().write(target, ALL_PARTITIONS, payload, decoded))
        .toList();
  }

  private static long awaitNewest(List<CompletableFuture<Long>> answers) {
    return answers.stream().mapToLong(TransactionsOnGroups::await).max().orElseThrow();
  }

  private static long await(CompletableFuture<Long> answer) {
    try {
      return answer.get();
    } catch (ExecutionException e) {
      throw StrongErrors.ofWrite(e.getCause(), ConsistencyLevel.QUORUM, WriteType.SIMPLE);
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  /** Does not wait, as who asks applies the commits of all. */
  private StrongKeyspace served(String name) {
    return keyspaces
        .find(name)
        .orElseThrow(
            () -> new IllegalStateException("The keyspace " + name + " is not served here yet."));
  }
}
