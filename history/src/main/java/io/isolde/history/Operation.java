// SPDX-License-Identifier: Apache-2.0
package io.isolde.history;

import java.util.List;

/**
 * Something that a transaction did to one object. A value is written at most once to a key, by
 * whomever, so that it tells who wrote it.
 */
public sealed interface Operation {
  /** The object. */
  int key();

  /** Puts a value behind the list of a key. */
  record Append(int key, int value) implements Operation {}

  /** Reads the whole list of a key. */
  record ReadList(int key, List<Integer> values) implements Operation {
    public ReadList {
      values = List.copyOf(values);
    }
  }

  /** Replaces the value of a key; only after having read it in the same transaction. */
  record Write(int key, int value) implements Operation {}

  /**
   * Reads the value of a key.
   *
   * @param value null if it has none yet
   */
  record Read(int key, Integer value) implements Operation {}
}
