// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.tpcc;

import io.isolde.bench.tpcc.Store.Row;
import java.util.List;

/** A customer asks for the last order (clause 2.6). */
record OrderStatus(Who who) implements Work {

  @Override
  public boolean isReadOnly() {
    return true;
  }

  @Override
  public void run(Store store) {
    int customer = who.find(store);
    Row unusedBalance = store.get(Table.CUSTOMER, who.warehouse(), who.district(), customer);
    List<Row> last =
        store.slice(Table.ORDER_BY_CUSTOMER, 1, who.warehouse(), who.district(), customer);
    for (Row order : last) { // One, or none if the scale gave this customer no order.
      int number = order.number("o_id");
      Row unusedCarrier = store.get(Table.ORDERS, who.warehouse(), who.district(), number);
      List<Row> unusedLines =
          store.slice(Table.ORDER_LINE, Integer.MAX_VALUE, who.warehouse(), who.district(), number);
    }
  }
}
