// SPDX-License-Identifier: Apache-2.0
package io.isolde.block;

import io.isolde.block.ExpressionCompiler.Computation;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.config.GuardrailsOptions;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.service.pager.PagingState;

/** A part of a block that is ready to be carried out. */
sealed interface BlockStep {

  /** Reads a row and keeps it. */
  record Let(int number, String name, Read read) implements BlockStep {}

  /** Reads rows and returns them. */
  record Rows(Read read) implements BlockStep {}

  /** Returns columns of rows that were read before. */
  record Values(List<Computation> columns) implements BlockStep {}

  /** Goes one way or the other. */
  record Choice(Predicate<BlockMoment> condition, List<BlockStep> then, List<BlockStep> otherwise)
      implements BlockStep {}

  /** Writes. */
  record Write(ModificationStatement statement, Bound bound) implements BlockStep {}

  /** A SELECT with its values. */
  record Read(SelectStatement select, Bound bound) {
    /**
     * The options of a page, as large as the client's if that has a bound.
     *
     * @param maxRows of a page otherwise
     * @param from where it begins; null for the first one
     */
    QueryOptions page(BlockMoment moment, int maxRows, PagingState from) {
      // Cassandra sorts rows of several partitions only if there are no pages.
      boolean isSorted =
          select.getRestrictions().keyIsInRelation() && !select.parameters.orderings.isEmpty();
      int asked = moment.options().getPageSize();
      int size = asked > 0 ? asked : allowed(maxRows);
      return bound.at(moment, isSorted ? -1 : size, from);
    }
  }

  /** As many as guardrails allow. */
  private static int allowed(int rows) {
    GuardrailsOptions guardrails = DatabaseDescriptor.getGuardrailsConfig();
    int warned = guardrails.getPageSizeWarnThreshold();
    int refused = guardrails.getPageSizeFailThreshold();
    int few = warned > 0 ? Math.min(rows, warned) : rows;
    return refused > 0 ? Math.min(few, refused) : few;
  }

  /** The values of a statement's markers. */
  record Bound(List<Computation> values) {
    /** The options of the request, with these values. */
    QueryOptions at(BlockMoment moment) {
      return at(moment, -1, null);
    }

    private QueryOptions at(BlockMoment moment, int pageSize, PagingState from) {
      ByteBuffer[] all = new ByteBuffer[values.size()];
      for (int i = 0; i < all.length; i++) {
        all[i] = values.get(i).at(moment);
      }
      QueryOptions request = moment.options();
      return QueryOptions.create(
          request.getConsistency(),
          Arrays.asList(all),
          false,
          pageSize,
          from,
          request.getSerialConsistency(),
          request.getProtocolVersion(),
          request.getKeyspace());
    }
  }
}
