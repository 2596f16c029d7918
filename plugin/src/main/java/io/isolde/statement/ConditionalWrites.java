// SPDX-License-Identifier: Apache-2.0
package io.isolde.statement;

import com.google.common.collect.Iterables;
import io.isolde.statement.CassandraConditions.Conditional;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.apache.cassandra.cql3.Attributes;
import org.apache.cassandra.cql3.BatchQueryOptions;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.VariableSpecifications;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.cql3.statements.CQL3CasRequest;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.EmptyIterators;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.partitions.FilteredPartition;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.RowIterator;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.transport.messages.ResultMessage;

/**
 * A statement with IF, or a batch that has some: what its conditions read, and what is written if
 * all of them hold. Other than for Cassandra, the partitions may be many, and of several tables.
 *
 * <p>The statements of a batch that write to a partition with conditions take effect at one moment,
 * as in Cassandra. Those that write to other partitions, and additions to numbers without IF, are
 * left to the caller.
 */
public final class ConditionalWrites {
  private record PartitionId(TableId table, ByteBuffer key) {}

  private final QueryState state;
  private final QueryOptions options;
  private final List<Group> partitions;
  private final List<BoundWrite> others;

  /** The statements of a partition, with their conditions. */
  private record Group(Conditional conditional, List<BoundWrite> writes) {
    private CQL3CasRequest request() {
      return conditional.request();
    }
  }

  private ConditionalWrites(
      QueryState state, QueryOptions options, List<Group> partitions, List<BoundWrite> others) {
    this.state = state;
    this.options = options;
    this.partitions = partitions;
    this.others = others;
  }

  /**
   * What was found.
   *
   * @param holds whether all conditions hold
   * @param found in each partition that has some
   * @param answer as Cassandra answers
   */
  public record Outcome(boolean holds, List<FilteredPartition> found, ResultMessage answer) {}

  /** Options of the statements of one partition. */
  private static final class PartitionOptions extends BatchQueryOptions {
    private final List<BoundWrite> writes;

    private PartitionOptions(List<BoundWrite> writes) {
      super(writes.get(0).options(), List.of());
      this.writes = writes;
    }

    @Override
    public QueryOptions forStatement(int number) {
      return writes.get(number).options();
    }
  }

  /**
   * Binds the values.
   *
   * @param state its time is that of the reads
   * @throws InvalidRequestException as Cassandra does
   */
  public static ConditionalWrites of(List<BoundWrite> writes, boolean isBatch, QueryState state) {
    if (!isBatch && BoundWrite.haveConditions(writes)) {
      BoundWrite write = writes.get(0);
      Conditional conditional = CassandraConditions.of(write.statement(), state, write.options());
      Group group = new Group(conditional, writes);
      return new ConditionalWrites(state, write.options(), List.of(group), List.of());
    }
    Map<PartitionId, List<BoundWrite>> byPartition = new LinkedHashMap<>();
    for (BoundWrite write : writes) {
      if (write.statement().hasConditions()) {
        byPartition.put(partitionOf(write, state), new ArrayList<>());
      }
    }
    List<BoundWrite> others = new ArrayList<>();
    for (BoundWrite write : writes) {
      boolean isForItself =
          isOfMany(write, byPartition.keySet(), state) || write.addsWithoutCondition();
      List<BoundWrite> together = isForItself ? null : byPartition.get(partitionOf(write, state));
      (together == null ? others : together).add(write);
    }
    List<Group> partitions = new ArrayList<>();
    for (List<BoundWrite> together : byPartition.values()) {
      partitions.add(new Group(conditional(together, state), together));
    }
    return new ConditionalWrites(
        state, writes.get(0).options(), showingTheSame(partitions), others);
  }

  /** Whether it names several partitions; not those that have conditions, of another moment. */
  private static boolean isOfMany(
      BoundWrite write, Set<PartitionId> conditional, QueryState state) {
    ModificationStatement statement = write.statement();
    if (!statement.getRestrictions().keyIsInRelation()) {
      return false;
    }
    for (ByteBuffer key :
        statement.buildPartitionKeyNames(write.options(), state.getClientState())) {
      if (conditional.contains(new PartitionId(statement.metadata().id, key))) {
        throw new InvalidRequestException(
            "IN on the partition key is not supported where another statement has a condition");
      }
    }
    return true;
  }

  private static PartitionId partitionOf(BoundWrite write, QueryState state) {
    ModificationStatement statement = write.statement();
    if (statement.getRestrictions().keyIsInRelation()) {
      throw new InvalidRequestException(
          "IN on the partition key is not supported with conditional batches");
    }
    List<ByteBuffer> keys =
        statement.buildPartitionKeyNames(write.options(), state.getClientState());
    return new PartitionId(statement.metadata().id, Iterables.getOnlyElement(keys));
  }

  private static Conditional conditional(List<BoundWrite> writes, QueryState state) {
    BatchStatement batch =
        new BatchStatement(
            BatchStatement.Type.LOGGED,
            VariableSpecifications.empty(),
            writes.stream().map(BoundWrite::statement).toList(),
            Attributes.none());
    return CassandraConditions.of(batch, state, new PartitionOptions(writes));
  }

  /** Rows of several partitions can stand in one answer if they have the same columns. */
  private static List<Group> showingTheSame(List<Group> partitions) {
    // Of several tables no rows are shown, so any columns will do.
    boolean isAll =
        partitions.stream().anyMatch(one -> one.conditional().columns() == null)
            || partitions.stream().map(one -> one.request().metadata.id).distinct().count() > 1;
    Set<ColumnMetadata> union = new LinkedHashSet<>();
    if (!isAll) {
      partitions.forEach(one -> one.conditional().columns().forEach(union::add));
    }
    return partitions.stream()
        .map(one -> new Group(showing(isAll ? null : union, one), one.writes()))
        .toList();
  }

  private static Conditional showing(Set<ColumnMetadata> columns, Group partition) {
    return new Conditional(partition.request(), columns, true);
  }

  /** Those that have no part in the conditions of a partition, in their order. */
  public List<BoundWrite> others() {
    return others;
  }

  /** Calls this with each partition that has conditions. */
  public void forEachPartition(BiConsumer<TableMetadata, DecoratedKey> action) {
    partitions.forEach(one -> action.accept(one.request().metadata, one.request().key));
  }

  /**
   * What a statement without conditions writes that reads its rows first.
   *
   * @param read reads the rows
   */
  public static List<PartitionUpdate> updates(
      BoundWrite write,
      WriteMoment moment,
      Function<SinglePartitionReadCommand, FilteredPartition> read) {
    return RowChanges.of(write, moment, read);
  }

  /**
   * Decides. All conditions are read, whatever the first ones say: the answer shows their rows.
   *
   * @param read reads what conditions are about, all of it as of one moment
   */
  public Outcome decide(Function<SinglePartitionReadCommand, FilteredPartition> read) {
    List<FilteredPartition> found = new ArrayList<>();
    boolean holds = true;
    for (Group one : partitions) {
      FilteredPartition partition = read.apply(one.request().readCommand(state.getNowInSeconds()));
      found.add(partition);
      holds &= one.request().appliesTo(partition);
    }
    if (partitions.isEmpty()) {
      return new Outcome(true, List.of(), new ResultMessage.Void());
    }
    return holds
        ? new Outcome(true, found, answer(null, 0))
        : new Outcome(false, found, notApplied(found));
  }

  /**
   * What is written to the partitions with conditions, which hold.
   *
   * @param read as before, for statements there that read and have no condition
   */
  public List<PartitionUpdate> updates(
      Outcome outcome,
      WriteMoment moment,
      Function<SinglePartitionReadCommand, FilteredPartition> read) {
    assert outcome.holds();
    List<PartitionUpdate> updates = new ArrayList<>();
    for (int i = 0; i < partitions.size(); i++) {
      PartitionUpdate update =
          RowChanges.of(partitions.get(i).writes(), outcome.found().get(i), moment, read);
      if (!update.isEmpty()) {
        updates.add(update);
      }
    }
    return updates;
  }

  /** Rows of several tables have no common columns, so then there are none. */
  private ResultMessage.Rows notApplied(List<FilteredPartition> found) {
    boolean isOneTable =
        found.stream().map(partition -> partition.metadata().id).distinct().count() == 1;
    ResultMessage.Rows answer = null;
    for (int i = 0; i < found.size() && (isOneTable || answer == null); i++) {
      try (RowIterator rows = isOneTable ? found.get(i).rowIterator() : emptyLike(found.get(i))) {
        ResultMessage.Rows one = answer(rows, i);
        boolean hasRows = one.result.metadata.valueCount() > 1;
        if (answer == null || (hasRows && answer.result.metadata.valueCount() == 1)) {
          answer = one; // The first one, and then the first one that has more than [applied].
        } else if (hasRows) {
          answer.result.rows.addAll(one.result.rows);
        }
      }
    }
    return answer;
  }

  private static RowIterator emptyLike(FilteredPartition partition) {
    return EmptyIterators.row(partition.metadata(), partition.partitionKey(), false);
  }

  private ResultMessage.Rows answer(RowIterator found, int number) {
    return new ResultMessage.Rows(
        CassandraConditions.result(partitions.get(number).conditional(), found, state, options));
  }
}
