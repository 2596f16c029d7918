// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.tpcc;

import static io.isolde.bench.tpcc.Store.key;

import io.isolde.bench.tpcc.Store.Row;

/** What is in the tables at the beginning (clause 4.3.3), the same for the same seed. */
final class InitialData {
  private static final long CENTS = 100;

  /** Of the first ten orders, three are not delivered yet. */
  private static final double DELIVERED = 0.7;

  private final Scale scale;
  private final Chooser chooser;
  private final Sink sink;

  /** Takes one row after the other. */
  @FunctionalInterface
  public interface Sink {
    /** As {@link Store#put}. */
    void put(Table table, Row columns, Object... key);
  }

  private InitialData(Scale scale, Chooser chooser, Sink sink) {
    this.scale = scale;
    this.chooser = chooser;
    this.sink = sink;
  }

  /** Hands every row to the sink. */
  public static void write(Scale scale, long seed, Sink sink) {
    InitialData data = new InitialData(scale, new Chooser(seed), sink);
    data.items();
    for (int warehouse = 1; warehouse <= scale.warehouses(); warehouse++) {
      data.warehouse(warehouse);
    }
  }

  private void items() {
    for (int item = 1; item <= scale.items(); item++) {
      long price = chooser.between(100, 10_000);
      sink.put(
          Table.ITEM,
          Row.of("name", chooser.letters(20)).and("price", price).and("data", chooser.letters(40)),
          item);
    }
  }

  private void warehouse(int warehouse) {
    long ytd = 3000 * CENTS * scale.customers() / 100 * Scale.DISTRICTS;
    sink.put(
        Table.WAREHOUSE,
        Row.of("name", chooser.letters(8)).and("tax", chooser.between(0, 2000)).and("ytd", ytd),
        warehouse);
    for (int item = 1; item <= scale.items(); item++) {
      sink.put(
          Table.STOCK,
          Row.of("quantity", chooser.between(10, 100))
              .and("ytd", 0L)
              .and("order_cnt", 0)
              .and("remote_cnt", 0)
              .and("data", chooser.letters(250)),
          key(warehouse, item));
    }
    for (int district = 1; district <= Scale.DISTRICTS; district++) {
      district(warehouse, district, ytd / Scale.DISTRICTS);
    }
  }

  private void district(int warehouse, int district, long ytd) {
    sink.put(
        Table.DISTRICT,
        Row.of("name", chooser.letters(8))
            .and("tax", chooser.between(0, 2000))
            .and("ytd", ytd)
            .and("next_o_id", scale.customers() + 1),
        key(warehouse, district));
    for (int number = 1; number <= scale.customers(); number++) {
      customer(warehouse, district, number);
      order(warehouse, district, number);
    }
  }

  private void customer(int warehouse, int district, int customer) {
    String first = chooser.letters(12);
    // Every name that is asked for is somebody's.
    String last = Chooser.lastNameOf((customer - 1) % 1000);
    sink.put(
        Table.CUSTOMER,
        Row.of("first", first)
            .and("last", last)
            .and("credit", chooser.isIn(10) ? Payment.BAD_CREDIT : "GC")
            .and("discount", chooser.between(0, 5000))
            .and("balance", -10 * CENTS)
            .and("ytd_payment", 10 * CENTS)
            .and("payment_cnt", 1)
            .and("delivery_cnt", 0)
            .and("data", chooser.letters(400)),
        key(warehouse, district, customer));
    sink.put(Table.CUSTOMER_BY_NAME, Row.EMPTY, key(warehouse, district, last, first, customer));
  }

  /** Each customer has one order; in the standard a permutation says which. */
  private void order(int warehouse, int district, int number) {
    boolean isDelivered = number <= DELIVERED * scale.customers();
    int lines = chooser.between(5, 15);
    sink.put(
        Table.ORDERS,
        Row.of("c_id", number)
            .and("entered_at", 0L)
            .and("carrier_id", isDelivered ? chooser.between(1, 10) : 0)
            .and("ol_cnt", lines)
            .and("all_local", 1),
        key(warehouse, district, number));
    sink.put(Table.ORDER_BY_CUSTOMER, Row.EMPTY, key(warehouse, district, number, number));
    if (!isDelivered) {
      sink.put(Table.NEW_ORDER, Row.EMPTY, key(warehouse, district, number));
    }
    for (int line = 1; line <= lines; line++) {
      sink.put(
          Table.ORDER_LINE,
          Row.of("i_id", chooser.between(1, scale.items()))
              .and("supply_w_id", warehouse)
              .and("delivered_at", 0L)
              .and("quantity", 5)
              .and("amount", isDelivered ? 0L : (long) chooser.between(1, 999_999)),
          key(warehouse, district, number, line));
    }
  }
}
