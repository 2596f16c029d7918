// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.tpcc;

import io.isolde.bench.tpcc.Store.Row;
import java.util.Set;
import java.util.TreeSet;

/**
 * How many of the items that were ordered lately are running out (clause 2.8).
 *
 * @param threshold a stock below it is running out
 */
record StockLevel(int warehouse, int district, int threshold) implements Work {
  private static final int LAST_ORDERS = 20;

  @Override
  public boolean isReadOnly() {
    return true;
  }

  @Override
  public void run(Store store) {
    int unused = count(store);
  }

  int count(Store store) {
    int next = store.get(Table.DISTRICT, warehouse, district).number("next_o_id");
    Set<Integer> items = new TreeSet<>();
    for (int order = Math.max(1, next - LAST_ORDERS); order < next; order++) {
      for (Row line :
          store.slice(Table.ORDER_LINE, Integer.MAX_VALUE, warehouse, district, order)) {
        items.add(line.number("i_id"));
      }
    }
    int low = 0;
    for (int item : items) {
      if (store.get(Table.STOCK, warehouse, item).number("quantity") < threshold) {
        low++;
      }
    }
    return low;
  }
}
