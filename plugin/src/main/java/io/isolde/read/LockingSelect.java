// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import io.isolde.oracle.lock.LockTable;
import java.util.function.UnaryOperator;
import org.apache.cassandra.cql3.statements.SelectStatement;

/** SELECT … FOR UPDATE: locks the rows that it returns until its transaction ends. */
public final class LockingSelect extends SnapshotSelect {
  private final LockTable.Mode mode;

  /**
   * The same statement, locking.
   *
   * @param mode NOWAIT and SKIP LOCKED, or to wait
   */
  public LockingSelect(SelectStatement select, LockTable.Mode mode) {
    super(select, UnaryOperator.identity());
    this.mode = mode;
  }

  public LockTable.Mode mode() {
    return mode;
  }
}
