// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import java.util.List;

/** Registers that single statements read and write; fails as the driver does. */
interface RegisterStore {
  /** What was found is no register: nobody ever writes this, so no order of operations has it. */
  Integer TORN = -1;

  void write(int key, int value);

  /**
   * Writes if the expected is there; says whether it did.
   *
   * @param expected null for nothing
   */
  boolean swap(int key, Integer expected, int value);

  /** Nothing is there in any register. */
  void empty();

  /** What is there; null for nothing. */
  Integer read(int key);

  /**
   * What a register has that is kept in several rows.
   *
   * @param values of the rows that are there
   * @param rows that each write writes
   */
  static Integer together(List<Integer> values, int rows) {
    if (values.isEmpty()) {
      return null;
    }
    Integer first = values.get(0);
    boolean isWhole = values.size() == rows && values.stream().allMatch(first::equals);
    return isWhole ? first : TORN;
  }
}
