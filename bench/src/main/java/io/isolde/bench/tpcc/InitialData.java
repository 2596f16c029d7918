// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.tpcc;

import java.util.Map;

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
    void put(Table table, Map<String, Object> columns, Object... key);
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
          Map.of("name", chooser.letters(20), "price", price, "data", chooser.letters(40)),
          item);
    }
  }

  private void warehouse(int warehouse) {
    long ytd = 3000 * CENTS * scale.customers() / 100 * Scale.DISTRICTS;
    sink.put(
        Table.WAREHOUSE,
        Map.of("name", chooser.letters(8), "tax", chooser.between(0, 2000), "ytd", ytd),
        warehouse);
    for (int item = 1; item <= scale.items(); item++) {
      sink.put(
          Table.STOCK,
          Map.of(
              "quantity",
              chooser.between(10, 100),
              "ytd",
              0L,
              "order_cnt",
              0,
              "remote_cnt",
              0,
              "data",
              chooser.letters(250)),
          warehouse,
          item);
    }
    for (int district = 1; district <= Scale.DISTRICTS; district++) {
      district(warehouse, district, ytd / Scale.DISTRICTS);
    }
  }

  private void district(int warehouse, int district, long ytd) {
    sink.put(
        Table.DISTRICT,
        Map.of(
            "name",
            chooser.letters(8),
            "tax",
            chooser.between(0, 2000),
            "ytd",
            ytd,
            "next_o_id",
            scale.customers() + 1),
        warehouse,
        district);
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
        Map.of(
            "first",
            first,
            "last",
            last,
            "credit",
            chooser.isIn(10) ? Payment.BAD_CREDIT : "GC",
            "discount",
            chooser.between(0, 5000),
            "balance",
            -10 * CENTS,
            "ytd_payment",
            10 * CENTS,
            "payment_cnt",
            1,
            "delivery_cnt",
            0,
            "data",
            chooser.letters(400)),
        warehouse,
        district,
        customer);
    sink.put(Table.CUSTOMER_BY_NAME, Map.of(), warehouse, district, last, first, customer);
  }

  /** Each customer has one order; in the standard a permutation says which. */
  private void order(int warehouse, int district, int number) {
    boolean isDelivered = number <= DELIVERED * scale.customers();
    int lines = chooser.between(5, 15);
    sink.put(
        Table.ORDERS,
        Map.of(
            "c_id",
            number,
            "entered_at",
            0L,
            "carrier_id",
            isDelivered ? chooser.between(1, 10) : 0,
            "ol_cnt",
            lines,
            "all_local",
            1),
        warehouse,
        district,
        number);
    sink.put(Table.ORDER_BY_CUSTOMER, Map.of(), warehouse, district, number, number);
    if (!isDelivered) {
      sink.put(Table.NEW_ORDER, Map.of(), warehouse, district, number);
    }
    for (int line = 1; line <= lines; line++) {
      sink.put(
          Table.ORDER_LINE,
          Map.of(
              "i_id",
              chooser.between(1, scale.items()),
              "supply_w_id",
              warehouse,
              "delivered_at",
              0L,
              "quantity",
              5,
              "amount",
              isDelivered ? 0L : (long) chooser.between(1, 999_999)),
          warehouse,
          district,
          number,
          line);
    }
  }
}
