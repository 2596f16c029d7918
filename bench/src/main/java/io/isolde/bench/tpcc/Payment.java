// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.tpcc;

import static io.isolde.bench.tpcc.Store.key;

import io.isolde.bench.tpcc.Store.Row;

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
    Row ofWarehouse =
        store
            .lock(Table.WAREHOUSE, warehouse)
            .orElseGet(() -> store.get(Table.WAREHOUSE, warehouse));
    store.set(Table.WAREHOUSE, Row.of("ytd", ofWarehouse.amount("ytd") + cents), warehouse);
    Row ofDistrict = store.get(Table.DISTRICT, warehouse, district);
    store.set(
        Table.DISTRICT, Row.of("ytd", ofDistrict.amount("ytd") + cents), key(warehouse, district));
    int customer = who.find(store);
    pay(store, customer);
    store.put(
        Table.HISTORY,
        Row.of("home_w_id", warehouse)
            .and("home_d_id", district)
            .and("amount", cents)
            .and("paid_at", paidAt),
        key(who.warehouse(), who.district(), customer, id));
  }

  private void pay(Store store, int customer) {
    Row before = store.get(Table.CUSTOMER, who.warehouse(), who.district(), customer);
    Row after =
        Row.of("balance", before.amount("balance") - cents)
            .and("ytd_payment", before.amount("ytd_payment") + cents)
            .and("payment_cnt", before.number("payment_cnt") + 1);
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
      after = after.and("data", data.substring(0, Math.min(MAX_DATA, data.length())));
    }
    store.set(Table.CUSTOMER, after, key(who.warehouse(), who.district(), customer));
  }
}
