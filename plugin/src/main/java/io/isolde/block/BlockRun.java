// SPDX-License-Identifier: Apache-2.0
package io.isolde.block;

import io.isolde.statement.BoundWrite;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.cassandra.cql3.ColumnIdentifier;
import org.apache.cassandra.cql3.ColumnSpecification;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.ResultSet;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.marshal.BooleanType;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.service.pager.PagingState;
import org.apache.cassandra.transport.messages.ResultMessage;

/** Carries out a block in a transaction, which others begin and commit. */
public final class BlockRun {
  /** That a block returns; there are no pages. */
  private static final int MAX_ROWS = 10_000;

  /** Where the client has none; as many as drivers ask for. */
  private static final int MAX_PAGE_ROWS = 5_000;

  /** The column of a result that says whether conditions held, as for LWTs. */
  private static final String APPLIED = "[applied]";

  /** The transaction. */
  public interface Access {
    /** Reads as of its snapshot, with its own writes. */
    ResultMessage.Rows read(SelectStatement select, QueryOptions options);

    /** Writes what is committed with the transaction. */
    void write(BoundWrite write);
  }

  /**
   * What came of it.
   *
   * @param answer to the client
   * @param holds whether each IF that was decided held
   * @param hasChoices whether it has an IF
   */
  public record Outcome(ResultMessage answer, boolean holds, boolean hasChoices) {}

  private final PreparedBlock block;
  private final BlockMoment moment;
  private final Access access;
  private final List<List<ByteBuffer>> rows = new ArrayList<>();
  private boolean holds = true;

  private BlockRun(PreparedBlock block, QueryOptions options, Access access) {
    this.block = block;
    this.moment = block.moment(options);
    this.access = access;
  }

  /**
   * Carries it out.
   *
   * @param options with a value for each variable
   * @throws InvalidRequestException if a value can't be calculated or does not fit
   */
  public static Outcome run(PreparedBlock block, QueryOptions options, Access access) {
    BlockRun run = new BlockRun(block, options, access);
    run.run(block.steps());
    return new Outcome(run.answer(), run.holds, block.hasChoices());
  }

  private void run(List<BlockStep> steps) {
    for (BlockStep step : steps) {
      run(step);
    }
  }

  private void run(BlockStep step) {
    if (step instanceof BlockStep.Let let) {
      moment.found(let.number(), row(let));
    } else if (step instanceof BlockStep.Rows read) {
      rows.addAll(read(read.read(), MAX_ROWS - rows.size()));
      requireFewRows();
    } else if (step instanceof BlockStep.Values values) {
      rows.add(values.columns().stream().map(column -> column.at(moment)).toList());
      requireFewRows();
    } else if (step instanceof BlockStep.Choice choice) {
      boolean isTrue = choice.condition().test(moment);
      holds &= isTrue;
      run(isTrue ? choice.then() : choice.otherwise());
    } else if (step instanceof BlockStep.Write write) {
      access.write(new BoundWrite(write.statement(), write.bound().at(moment)));
    }
  }

  private List<ByteBuffer> row(BlockStep.Let let) {
    List<List<ByteBuffer>> found = read(let.read(), 1);
    if (found.size() > 1) {
      throw new InvalidRequestException(
          "The SELECT of LET "
              + let.name()
              + " finds more than one row; name the whole primary key, or add LIMIT 1.");
    }
    return found.isEmpty() ? null : found.get(0);
  }

  /** All pages, or as many as have more rows than are wanted. */
  private List<List<ByteBuffer>> read(BlockStep.Read read, int maxRows) {
    List<List<ByteBuffer>> found = new ArrayList<>();
    PagingState next = null;
    do {
      ResultSet page = access.read(read.select(), read.page(moment, MAX_PAGE_ROWS, next)).result;
      found.addAll(page.rows);
      next = page.metadata.getPagingState();
    } while (next != null && found.size() <= maxRows);
    return found;
  }

  private void requireFewRows() {
    if (rows.size() > MAX_ROWS) {
      throw new InvalidRequestException(
          "A block returns at most "
              + MAX_ROWS
              + " rows, as its result has no pages; add a LIMIT, or read in a transaction of"
              + " several requests (START TRANSACTION).");
    }
  }

  private ResultMessage answer() {
    if (block.columns().isPresent()) {
      return answer(block.columns().get(), rows);
    }
    if (!block.hasChoices()) {
      return new ResultMessage.Void();
    }
    ColumnSpecification applied =
        new ColumnSpecification(
            "isolde", "transaction", new ColumnIdentifier(APPLIED, true), BooleanType.instance);
    List<List<ByteBuffer>> one = new ArrayList<>();
    one.add(List.of(BooleanType.instance.decompose(holds)));
    return answer(List.of(applied), one);
  }

  private static ResultMessage answer(
      List<ColumnSpecification> columns, List<List<ByteBuffer>> found) {
    return new ResultMessage.Rows(
        new ResultSet(new ResultSet.ResultMetadata(new ArrayList<>(columns)), found));
  }
}
