// SPDX-License-Identifier: Apache-2.0
package io.isolde.block;

import io.isolde.block.ExpressionCompiler.Computation;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.cql3.statements.SelectStatement;

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
     * The size of a page that has so many rows. Cassandra sorts several partitions without pages.
     */
    int pageOf(int rows) {
      boolean isSorted =
          select.getRestrictions().keyIsInRelation() && !select.parameters.orderings.isEmpty();
      return isSorted ? -1 : rows;
    }
  }

  /**
   * The values of a statement's markers.
   *
   * @param readsRows whether any of them depends on a row
   */
  record Bound(List<Computation> values, boolean readsRows) {
    /**
     * The options of the request, with these values.
     *
     * @param maxRows how many rows come in one page
     */
    QueryOptions at(BlockMoment moment, int maxRows) {
      ByteBuffer[] all = new ByteBuffer[values.size()];
      for (int i = 0; i < all.length; i++) {
        all[i] = values.get(i).at(moment);
      }
      QueryOptions request = moment.options();
      return QueryOptions.create(
          request.getConsistency(),
          Arrays.asList(all),
          false,
          maxRows,
          null,
          request.getSerialConsistency(),
          request.getProtocolVersion(),
          request.getKeyspace());
    }
  }
}
