// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import io.isolde.answer.Answers;
import io.isolde.apply.Denylist;
import io.isolde.config.IsoldeConfig;
import io.isolde.group.GroupClient;
import io.isolde.group.Layout;
import io.isolde.group.RequestId;
import io.isolde.read.SnapshotSelect;
import io.isolde.statement.BoundWrite;
import io.isolde.statement.ClientRequest;
import io.isolde.transaction.ClientTimestamps;
import io.isolde.transaction.DataStatements;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.WriteType;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.dht.Token;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.transport.ProtocolVersion;
import org.apache.cassandra.transport.messages.ResultMessage;

/** Runs SELECT, INSERT, UPDATE, DELETE and BATCH on strong keyspaces. */
public final class StrongStatements {
  private final StrongKeyspaces keyspaces;
  private final StatementTexts texts;

  /** Serves none until the keyspaces are started. */
  public StrongStatements(IsoldeConfig config, StatementTexts texts) {
    AsLeader leader = new AsLeader(config.strong().timeoutMillis());
    this.keyspaces = new StrongKeyspaces(config, leader);
    leader.keyspaces = keyspaces;
    this.texts = texts;
  }

  /** The keyspaces. */
  public StrongKeyspaces keyspaces() {
    return keyspaces;
  }

  /** Whether a statement on these tables is to be run here. Cheap. */
  public boolean isStrong(Collection<TableMetadata> tables) {
    for (TableMetadata table : tables) {
      if (keyspaces.isMeant(table.keyspace)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Reads from leaders, or, at ONE and LOCAL_ONE, from any replica.
   *
   * @param onCassandra reads as if Isolde were not there
   */
  public ResultMessage select(
      SelectStatement select,
      QueryOptions options,
      ClientRequest request,
      Supplier<ResultMessage> onCassandra) {
    ConsistencyLevel consistency = options.getConsistency();
    boolean isAnyReplica =
        consistency == ConsistencyLevel.ONE || consistency == ConsistencyLevel.LOCAL_ONE;
    if (isAnyReplica && !isOfRange(select)) {
      return onCassandra.get();
    }
    select.authorize(request.state().getClientState());
    select.validate(request.state().getClientState());
    StrongRefusals.refuseNearest(select);
    StrongKeyspace keyspace = keyspaces.get(select.keyspace());
    AtomicReference<ReadQuery> asked = new AtomicReference<>();
    ResultMessage rows =
        new SnapshotSelect(
                select,
                query -> {
                  asked.set(query);
                  return isAnyReplica
                      ? LeaderQueries.ofAnyReplica(query, keyspace)
                      : LeaderQueries.of(query, keyspace);
                })
            .execute(request.state(), options, request.requestTime());
    return !isAnyReplica
            && asked.get() instanceof SinglePartitionReadCommand.Group group
            && group.queries.size() == 1
        ? LeaderHint.on(
            rows,
            keyspace,
            group.queries.get(0).partitionKey().getToken(),
            options.getProtocolVersion())
        : rows;
  }

  private static boolean isOfRange(SelectStatement select) {
    // The nearest of all ranges are not the nearest of each.
    return !select.getRestrictions().isTopK()
        && (select.getRestrictions().isKeyRange()
            || select.getRestrictions().usesSecondaryIndexing());
  }

  /**
   * Writes, as one write of one group; checked and permitted already. May fail as this does.
   *
   * @param name which the client gave it
   */
  public CompletableFuture<ResultMessage> write(
      List<BoundWrite> writes,
      ConsistencyLevel consistency,
      ClientRequest request,
      Optional<RequestId> name) {
    StrongKeyspace keyspace = keyspaceOf(writes);
    writes.forEach(write -> StrongRefusals.check(write.statement()));
    ClientTimestamps.warnIfIgnored(writes, request);
    List<PartitionUpdate> updates = DataStatements.together(writes, 0, request);
    Denylist.checkWrites(updates);
    if (updates.isEmpty()) {
      return CompletableFuture.completedFuture(new ResultMessage.Void());
    }
    GroupClient.Target target = groupOf(keyspace, updates);
    int[] keyHashes =
        updates.stream()
            .mapToInt(update -> LeaderDecisions.keyHash(update.partitionKey()))
            .distinct()
            .toArray();
    Payload.Updates made = new Payload.Updates(updates, Payload.Timestamps.OF_THE_LOG);
    byte[] payload = Payload.encode(made);
    return LeaderHint.on(
        keyspace
            .client()
            .write(target, name, keyHashes, payload, made)
            .handle(
                (done, failure) ->
                    orThrow(new ResultMessage.Void(), failure, consistency, WriteType.SIMPLE)),
        keyspace,
        updates.get(0).partitionKey().getToken(),
        protocolOf(writes));
  }

  /** Whether statements write to tables of counters; Cassandra keeps others out of such a batch. */
  public static boolean areOfCounters(List<BoundWrite> writes) {
    return writes.stream().anyMatch(write -> write.statement().isCounter());
  }

  /**
   * Adds to counters; checked and permitted already. Each partition is one write, as in Cassandra:
   * if one fails, others may be done. May fail as this does.
   */
  public CompletableFuture<ResultMessage> count(
      List<BoundWrite> writes, ConsistencyLevel consistency, ClientRequest request) {
    StrongKeyspace keyspace = keyspaceOf(writes);
    writes.forEach(write -> StrongRefusals.check(write.statement()));
    StrongRefusals.checkCounters(writes);
    List<PartitionUpdate> updates = DataStatements.together(writes, 0, request);
    Denylist.checkWrites(updates);
    if (updates.isEmpty()) {
      return CompletableFuture.completedFuture(new ResultMessage.Void());
    }
    long nowInSeconds = request.state().getNowInSeconds();
    List<CompletableFuture<byte[]>> counted =
        updates.stream()
            .collect(groupingBy(PartitionUpdate::partitionKey, LinkedHashMap::new, toList()))
            .values()
            .stream()
            .map(partition -> count(keyspace, new CounterRequest(partition, nowInSeconds)))
            .toList();
    return LeaderHint.on(
        CompletableFuture.allOf(counted.toArray(CompletableFuture<?>[]::new))
            .handle(
                (done, unused) ->
                    orThrow(
                        new ResultMessage.Void(),
                        CountedPartition.failure(counted),
                        consistency,
                        WriteType.COUNTER)),
        keyspace,
        updates.get(0).partitionKey().getToken(),
        protocolOf(writes));
  }

  private static CompletableFuture<byte[]> count(StrongKeyspace keyspace, CounterRequest request) {
    Token token = request.updates().get(0).partitionKey().getToken();
    return keyspace.client().decide(keyspace.target(keyspace.groupOf(token)), request.encode());
  }

  private static ProtocolVersion protocolOf(List<BoundWrite> writes) {
    return writes.get(0).options().getProtocolVersion();
  }

  private static <T> T orThrow(
      T answer, Throwable failure, ConsistencyLevel consistency, WriteType writeType) {
    if (failure != null) {
      throw StrongErrors.ofWrite(Answers.cause(failure), consistency, writeType);
    }
    return answer;
  }

  private StrongKeyspace keyspaceOf(List<BoundWrite> writes) {
    String name = writes.get(0).statement().keyspace();
    for (BoundWrite write : writes) {
      if (!write.statement().keyspace().equals(name)) {
        throw StrongRefusals.spansGroups("several keyspaces", name);
      }
    }
    return keyspaces.get(name);
  }

  private static GroupClient.Target groupOf(
      StrongKeyspace keyspace, List<PartitionUpdate> updates) {
    Layout.Group group = keyspace.groupOf(updates.get(0).partitionKey().getToken());
    for (PartitionUpdate update : updates) {
      if (!keyspace.groupOf(update.partitionKey().getToken()).equals(group)) {
        throw StrongRefusals.spansGroups("partitions of several replica groups", keyspace.name());
      }
    }
    return keyspace.target(group);
  }

  /** Whether the leader has to read before it writes. */
  public static boolean needsDecision(List<BoundWrite> writes) {
    return writes.stream()
        .anyMatch(write -> write.statement().hasConditions() || write.statement().requiresRead());
  }

  /**
   * Has the leader decide on statements that came as one text.
   *
   * @param statement whose text is known to {@link StatementTexts}
   */
  public CompletableFuture<ResultMessage> decide(
      CQLStatement statement,
      List<BoundWrite> writes,
      QueryOptions options,
      ClientRequest request) {
    StatementTexts.Text text = texts.of(statement).orElseThrow(StrongStatements::textUnknown);
    return decide(
        writes,
        options.getConsistency(),
        request,
        new DecisionRequest(
            keyspaceOf(writes).name(),
            List.of(text.text()),
            List.of(options.getValues()),
            text.isPrepared(),
            false,
            options.getProtocolVersion().asInt(),
            options.getNowInSeconds(request.state())));
  }

  /**
   * Has the leader decide on statements that came as a list.
   *
   * @param statementTexts as many as statements
   */
  public CompletableFuture<ResultMessage> decideList(
      List<BoundWrite> writes,
      List<String> statementTexts,
      ConsistencyLevel consistency,
      ClientRequest request) {
    QueryOptions first = writes.get(0).options();
    return decide(
        writes,
        consistency,
        request,
        new DecisionRequest(
            keyspaceOf(writes).name(),
            statementTexts,
            writes.stream().map(write -> write.options().getValues()).toList(),
            true,
            true,
            first.getProtocolVersion().asInt(),
            first.getNowInSeconds(request.state())));
  }

  private static IllegalStateException textUnknown() {
    return new IllegalStateException("The text of the statement is not known.");
  }

  /**
   * The leader makes the updates, and does not know for whom. So they are made here too where
   * Cassandra has limits for values, unless something has to be read for that.
   */
  private static void guardValues(BoundWrite write, ClientRequest request) {
    if (request.state().getClientState().isOrdinaryUser() && !write.statement().requiresRead()) {
      List<PartitionUpdate> unused = DataStatements.together(List.of(write), 0, request);
    }
  }

  private CompletableFuture<ResultMessage> decide(
      List<BoundWrite> writes,
      ConsistencyLevel consistency,
      ClientRequest request,
      DecisionRequest decision) {
    StrongKeyspace keyspace = keyspaceOf(writes);
    Optional<Layout.Group> group = Optional.empty();
    DecoratedKey decided = null;
    var client = request.state().getClientState();
    for (BoundWrite write : writes) {
      StrongRefusals.check(write.statement());
      guardValues(write, request);
      DecoratedKey key = DecidedStatement.key(write.statement(), write.options(), client);
      Denylist.checkConditional(write.statement().metadata(), key);
      Layout.Group own = keyspace.groupOf(key.getToken());
      if (group.isPresent() && !group.get().equals(own)) {
        throw StrongRefusals.spansGroups("partitions of several replica groups", keyspace.name());
      }
      if (decided != null && !decided.equals(key)) {
        throw StrongRefusals.listsOfSeveralPartitions(keyspace.name());
      }
      group = Optional.of(own);
      decided = key;
    }
    ClientTimestamps.warnIfIgnored(writes, request);
    GroupClient.Target target = keyspace.target(group.orElseThrow());
    return LeaderHint.on(
        keyspace
            .client()
            .decide(target, decision.encode())
            .handle((answer, failure) -> orThrow(answer, failure, consistency, WriteType.CAS))
            .thenApply(answer -> LeaderDecisions.decode(answer, decision.protocolVersion())),
        keyspace,
        decided.getToken(),
        protocolOf(writes));
  }
}
