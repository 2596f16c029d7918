// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.block.BlockCompiler;
import io.isolde.block.BlockRun;
import io.isolde.block.PreparedBlock;
import io.isolde.error.IsoldeException;
import io.isolde.statement.BoundWrite;
import io.isolde.transaction.Coordinator;
import io.isolde.transaction.Tables;
import io.isolde.transaction.Transaction;
import io.isolde.transaction.barrier.TableBarrier;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.functions.Function;
import org.apache.cassandra.cql3.statements.QualifiedStatement;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.ClientWarn;
import org.apache.cassandra.transport.ProtocolVersion;
import org.apache.cassandra.transport.messages.ResultMessage;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.apache.cassandra.utils.concurrent.OpOrder;

/** Whole transactions in one request: {@code BEGIN TRANSACTION … COMMIT TRANSACTION}. */
final class BlockStatements {
  /** In the custom payload of the answer to a block with an IF: true or false. */
  static final String APPLIED = "isolde-applied";

  private static final String GAP = "(?:\\s|--[^\\n]*+|//[^\\n]*+|/\\*(?s:.*?)\\*/)";
  private static final Pattern BLOCK =
      Pattern.compile(GAP + "*+BEGIN" + GAP + "++TRANSACTION\\b", Pattern.CASE_INSENSITIVE);

  private final LazyCoordinator coordinator;
  private final TableBarrier barrier;
  private final ConnectionTransactions connections;

  BlockStatements(
      LazyCoordinator coordinator, TableBarrier barrier, ConnectionTransactions connections) {
    this.coordinator = coordinator;
    this.barrier = barrier;
    this.connections = connections;
  }

  /** Whether a text begins a block. Cheap for all others. */
  static boolean isBlock(String text) {
    return StatementParser.mayBegin(text, "BEGIN") && BLOCK.matcher(text).lookingAt();
  }

  /** Prepares the text of a block. */
  static ControlStatement.Block prepare(String text, ClientState client) {
    return new ControlStatement.Block(
        BlockCompiler.prepare(text, BlockStatements::prepareOne, client));
  }

  private static CQLStatement prepareOne(String text, ClientState client) {
    QualifiedStatement raw = (QualifiedStatement) QueryProcessor.parseStatement(text);
    raw.setKeyspace(client);
    TableMetadata table = Schema.instance.validateTable(raw.keyspace(), raw.name());
    var unused = Tables.requireTransactional(table); // First: its columns can do more.
    return raw instanceof SelectStatement.RawStatement
        ? raw.prepare(client)
        : LateRefusals.prepare(text, client);
  }

  /** Whether a block would be prepared to the same today. */
  @SuppressWarnings("ReferenceEquality") // each change of a table makes another one
  static boolean isFresh(PreparedBlock block) {
    return block.functions().stream().allMatch(Function::isNative)
        && block.tables().stream()
            .allMatch(table -> table == Schema.instance.getTableMetadata(table.id));
  }

  ResultMessage run(ControlStatement.Block statement, QueryOptions options, Incoming incoming) {
    if (connections.transactionOf(incoming).isPresent()) {
      throw IsoldeException.invalid(
          "BEGIN TRANSACTION … COMMIT TRANSACTION is a transaction of its own, so it can't be part"
              + " of another one; send it without a transaction, or its statements one by one.");
    }
    PreparedBlock block = statement.block();
    statement.authorize(incoming.client());
    statement.validate(incoming.client());
    SnapshotValidator.refuseWrites(block.writtenTables());
    UniqueIndexStatements.refuseWrites(block.writtenTables());
    try (OpOrder.Group open = barrier.enter(block.tables())) {
      Tables.requireColumns(block.tables());
      for (TableMetadata table : block.tables()) {
        var unused = Tables.requireTransactional(table);
      }
      return answer(runOpen(block, options, incoming), options.getProtocolVersion());
    }
  }

  private BlockRun.Outcome runOpen(PreparedBlock block, QueryOptions options, Incoming incoming) {
    boolean mayWrite = !block.writtenTables().isEmpty();
    BlockRun.Outcome outcome =
        coordinator
            .get()
            .whole()
            .run(
                incoming.request(),
                options,
                incoming.user(),
                mayWrite,
                block.knownWrites(options),
                transaction -> BlockRun.run(block, options, access(transaction, incoming)));
    if (mayWrite) {
      connections.warnBesideOther(incoming.client());
    }
    return outcome;
  }

  private BlockRun.Access access(Transaction transaction, Incoming incoming) {
    Coordinator started = coordinator.get();
    return new BlockRun.Access() {
      @Override
      public ResultMessage.Rows read(SelectStatement select, QueryOptions options) {
        StatementChecks.ofRead(select, level(options), incoming);
        return started.data().select(transaction, select, options, incoming.request());
      }

      @Override
      public void write(BoundWrite write) {
        List<BoundWrite> one = List.of(write);
        StatementChecks.ofWrite(write.statement(), one, level(write.options()), incoming);
        if (BoundWrite.read(one)) {
          var unused = started.reading().write(transaction, one, false, incoming.request());
        } else {
          started.data().write(transaction, one, incoming.request());
        }
      }
    };
  }

  /** A block reads and writes, so levels that are for one of them only mean no less for it. */
  private static ConsistencyLevel level(QueryOptions options) {
    ConsistencyLevel asked = options.getConsistency();
    return asked.isSerialConsistency() || asked == ConsistencyLevel.ANY
        ? ConsistencyLevel.QUORUM
        : asked;
  }

  private static ResultMessage answer(BlockRun.Outcome outcome, ProtocolVersion protocol) {
    // Some drivers read warnings and payloads in the other order, so there is not both.
    boolean hasRoom =
        protocol.isGreaterOrEqualTo(ProtocolVersion.V4)
            && ClientWarn.instance.getWarnings() == null;
    if (outcome.hasChoices() && hasRoom) {
      outcome
          .answer()
          .setCustomPayload(
              Map.of(APPLIED, ByteBufferUtil.bytes(Boolean.toString(outcome.holds()))));
    }
    return outcome.answer();
  }
}
