// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.tpcc;

import static io.isolde.bench.tpcc.Store.key;

import io.isolde.bench.tpcc.Store.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A customer orders items (clause 2.4).
 *
 * @param lines the items, one after the other
 * @param enteredAt milliseconds since 1970
 */
record NewOrder(int warehouse, int district, int customer, List<Line> lines, long enteredAt)
    implements Work {
  private static final int LOW_STOCK = 10;
  private static final int REFILL = 91;

  /**
   * One item of an order.
   *
   * @param supplier the warehouse that it comes from
   */
  record Line(int item, int supplier, int quantity) {}

  @Override
  public boolean isReadOnly() {
    return false;
  }

  /**
   * All items are looked up before anything is written. So even without isolation an order of an
   * item that is not there leaves nothing behind.
   */
  @Override
  public void run(Store store) {
    Optional<Row> locked = store.lock(Table.DISTRICT, warehouse, district);
    List<Long> prices = prices(store);
    Row unusedTax = store.get(Table.WAREHOUSE, warehouse);
    Row unusedDiscount = store.get(Table.CUSTOMER, warehouse, district, customer);
    int order =
        locked.orElseGet(() -> store.get(Table.DISTRICT, warehouse, district)).number("next_o_id");
    store.set(Table.DISTRICT, Row.of("next_o_id", order + 1), key(warehouse, district));
    boolean isLocal = lines.stream().allMatch(line -> line.supplier == warehouse);
    store.put(
        Table.ORDERS,
        Row.of("c_id", customer)
            .and("entered_at", enteredAt)
            .and("carrier_id", 0)
            .and("ol_cnt", lines.size())
            .and("all_local", isLocal ? 1 : 0),
        key(warehouse, district, order));
    store.put(Table.ORDER_BY_CUSTOMER, Row.EMPTY, key(warehouse, district, customer, order));
    store.put(Table.NEW_ORDER, Row.EMPTY, key(warehouse, district, order));
    for (int i = 0; i < lines.size(); i++) {
      Line line = lines.get(i);
      takeFromStock(store, line);
      store.put(
          Table.ORDER_LINE,
          Row.of("i_id", line.item)
              .and("supply_w_id", line.supplier)
              .and("delivered_at", 0L)
              .and("quantity", line.quantity)
              .and("amount", line.quantity * prices.get(i)),
          key(warehouse, district, order, i + 1));
    }
  }

  private List<Long> prices(Store store) {
    List<Long> prices = new ArrayList<>();
    for (Line line : lines) {
      prices.add(
          store
              .find(Table.ITEM, line.item)
              .orElseThrow(() -> new UnusedItemException(line.item))
              .amount("price"));
    }
    return prices;
  }

  private void takeFromStock(Store store, Line line) {
    Row stock = store.get(Table.STOCK, line.supplier, line.item);
    int left = stock.number("quantity") - line.quantity;
    store.set(
        Table.STOCK,
        Row.of("quantity", left < LOW_STOCK ? left + REFILL : left)
            .and("ytd", stock.amount("ytd") + line.quantity)
            .and("order_cnt", stock.number("order_cnt") + 1)
            .and("remote_cnt", stock.number("remote_cnt") + (line.supplier == warehouse ? 0 : 1)),
        key(line.supplier, line.item));
  }
}
