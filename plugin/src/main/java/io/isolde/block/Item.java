// SPDX-License-Identifier: Apache-2.0
package io.isolde.block;

import java.util.List;

/** A part of a block, in the order in which they are carried out. */
sealed interface Item {

  /** LET: reads a row and gives it a name. */
  record Let(String name, StatementText select) implements Item {}

  /** A SELECT whose rows are returned. */
  record Rows(StatementText select) implements Item {}

  /** A SELECT of columns of rows that were read before. */
  record Values(List<Named> columns) implements Item {}

  /**
   * A column of a result.
   *
   * @param name in the result
   */
  record Named(Expression.Reference reference, String name) {}

  /** IF … THEN … ELSE … END IF. */
  record Choice(Condition condition, List<Item> then, List<Item> otherwise) implements Item {}

  /** INSERT, UPDATE or DELETE. */
  record Write(StatementText statement) implements Item {}
}
