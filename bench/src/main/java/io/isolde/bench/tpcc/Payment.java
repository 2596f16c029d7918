// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.tpcc;

import io.isolde.bench.tpcc.Store.Row;
import java.util.HashMap;
import java.util.Map;

/**
 * A customer pays (clause 2.5), perhaps at another warehouse than the own.
 *
 * @param warehouse where it is paid
 * @param cents how much
 * @param id of this payment
 * @param paidAt milliseconds since 1970
 */
record Payment(int warehouse, int district, Who who, long cents, String id, long paidAt)
    implements Work {
  static final String BAD_CREDIT = "BC";
  private static final int MAX_DATA = 500;

  @Override
  public boolean isReadOnly() {
    return false;
  }

  @Override
  public void run(Store store) {
    Row ofWarehouse = store.get(Table.WAREHOUSE, warehouse);
    store.put(Table.WAREHOUSE, Map.of("ytd", ofWarehouse.amount("ytd") + cents), warehouse);
    Row ofDistrict = store.get(Table.DISTRICT, warehouse, district);
    store.put(Table.DISTRICT, Map.of("ytd", ofDistrict.amount("ytd") + cents), warehouse, district);
    int customer = who.find(store);
    pay(store, customer);
    store.put(
        Table.HISTORY,
        Map.of("home_w_id", warehouse, "home_d_id", district, "amount", cents, "paid_at", paidAt),
        who.warehouse(),
        who.district(),
        customer,
        id);
  }

  private void pay(Store store, int customer) {
    Row before = store.get(Table.CUSTOMER, who.warehouse(), who.district(), customer);
    Map<String, Object> after = new HashMap<>();
    after.put("balance", before.amount("balance") - cents);
    after.put("ytd_payment", before.amount("ytd_payment") + cents);
    after.put("payment_cnt", before.number("payment_cnt") + 1);
    if (before.text("credit").equals(BAD_CREDIT)) {
      String data =
          "%d %d %d %d %d %d|%s"
              .formatted(
                  customer,
                  who.district(),
                  who.warehouse(),
                  district,
                  warehouse,
                  cents,
                  before.text("data"));
      after.put("data", data.substring(0, Math.min(MAX_DATA, data.length())));
    }
    store.put(Table.CUSTOMER, after, who.warehouse(), who.district(), customer);
  }
}
