// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.tpcc;

import io.isolde.bench.tpcc.Store.Row;
import java.util.List;

/**
 * A customer, named by number or by last name.
 *
 * @param number 0 if named by last name
 * @param lastName empty if named by number
 */
record Who(int warehouse, int district, int number, String lastName) {

  /** The number; of several with the same name, that in the middle (clause 2.5.2.2). */
  int find(Store store) {
    if (number > 0) {
      return number;
    }
    List<Row> found =
        store.slice(Table.CUSTOMER_BY_NAME, Integer.MAX_VALUE, warehouse, district, lastName);
    if (found.isEmpty()) {
      throw new IllegalStateException("Nobody is called " + lastName + ".");
    }
    return found.get((found.size() - 1) / 2).number("c_id");
  }
}
