// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.tpcc;

import static io.isolde.bench.tpcc.Store.key;

import io.isolde.bench.tpcc.Store.Row;
import java.util.List;

/**
 * The oldest order of a district is delivered (clause 2.7). The standard's batch of ten districts
 * may be as many transactions; {@link TransactionMix} makes them of this.
 *
 * @param deliveredAt milliseconds since 1970
 */
record Delivery(int warehouse, int district, int carrier, long deliveredAt) implements Work {

  @Override
  public boolean isReadOnly() {
    return false;
  }

  @Override
  public void run(Store store) {
    List<Row> oldest = store.slice(Table.NEW_ORDER, 1, warehouse, district);
    if (!oldest.isEmpty()) { // Else all have been delivered, and nothing is to be done.
      deliver(store, oldest.get(0).number("o_id"));
    }
  }

  private void deliver(Store store, int order) {
    store.delete(Table.NEW_ORDER, warehouse, district, order);
    int customer = store.get(Table.ORDERS, warehouse, district, order).number("c_id");
    store.set(Table.ORDERS, Row.of("carrier_id", carrier), key(warehouse, district, order));
    long sum = 0;
    List<Row> lines = store.slice(Table.ORDER_LINE, Integer.MAX_VALUE, warehouse, district, order);
    for (Row line : lines) {
      sum += line.amount("amount");
      store.set(
          Table.ORDER_LINE,
          Row.of("delivered_at", deliveredAt),
          key(warehouse, district, order, line.number("ol_number")));
    }
    Row before = store.get(Table.CUSTOMER, warehouse, district, customer);
    store.set(
        Table.CUSTOMER,
        Row.of("balance", before.amount("balance") + sum)
            .and("delivery_cnt", before.number("delivery_cnt") + 1),
        key(warehouse, district, customer));
  }
}
