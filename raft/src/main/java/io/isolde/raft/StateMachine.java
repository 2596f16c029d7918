// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import java.io.Closeable;
import java.nio.ByteBuffer;

/**
 * What a group's log is about, on one member: it gets what is committed, in order. How its state is
 * saved, so that the log before it can go, is what a {@link FileStateMachine} and a {@link
 * CopyingStateMachine} differ in; each is one of these.
 *
 * <p>Unless a method says otherwise, it is called by one thread at a time, and must not block for
 * long: nothing else is applied meanwhile.
 */
public sealed interface StateMachine extends Closeable
    permits FileStateMachine, CopyingStateMachine {
  /**
   * Applies the next entry.
   *
   * @param data as it is in the log
   * @param own the very object that was proposed, if this member did that and has waited for it
   *     since; else null
   */
  void apply(LogPosition at, ByteBuffer data, LogData own);

  /** The next entry is the group's own, of a new leader or of other members: nothing to apply. */
  default void skip(LogPosition at) {}

  /**
   * False while the next entry can't be applied, and that is not over in a moment: then another
   * member is to lead. Any thread may ask, at any time.
   */
  default boolean canApply() {
    return true;
  }
}
