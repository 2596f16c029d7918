// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.tpcc;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Chooses what comes next, in the standard's mix (clause 5.2.3): of 100 transactions 45 new orders,
 * 43 payments, and 4 each of the status of an order, deliveries and the level of a stock.
 */
final class TransactionMix {
  private static final int PAYMENTS = 43;
  private static final int OTHERS = 4;

  /** An item that nobody sells. */
  private static final int UNUSED_ITEM = 0;

  private final Scale scale;
  private final Chooser chooser;

  /** A mix whose choices are those of the chooser. */
  public TransactionMix(Scale scale, Chooser chooser) {
    this.scale = scale;
    this.chooser = chooser;
  }

  /**
   * Returns what comes next: one transaction, or ten for a delivery.
   *
   * @param nowMillis since 1970
   */
  public List<Work> next(long nowMillis) {
    int percent = chooser.between(0, 99);
    int warehouse = chooser.between(1, scale.warehouses());
    if (percent < OTHERS) {
      return List.of(new OrderStatus(who(warehouse, district())));
    } else if (percent < 2 * OTHERS) {
      int carrier = chooser.between(1, 10);
      return IntStream.rangeClosed(1, Scale.DISTRICTS)
          .<Work>mapToObj(district -> new Delivery(warehouse, district, carrier, nowMillis))
          .toList();
    } else if (percent < 3 * OTHERS) {
      return List.of(new StockLevel(warehouse, district(), chooser.between(10, 20)));
    } else if (percent < 3 * OTHERS + PAYMENTS) {
      return List.of(payment(warehouse, nowMillis));
    }
    return List.of(newOrder(warehouse, nowMillis));
  }

  private NewOrder newOrder(int warehouse, long nowMillis) {
    int count = chooser.between(5, 15);
    boolean isRolledBack = chooser.isIn(1);
    List<NewOrder.Line> lines = new ArrayList<>();
    for (int i = 1; i <= count; i++) {
      int item = isRolledBack && i == count ? UNUSED_ITEM : chooser.item(scale.items());
      int supplier = chooser.isIn(1) ? otherThan(warehouse) : warehouse;
      lines.add(new NewOrder.Line(item, supplier, chooser.between(1, 10)));
    }
    int customer = chooser.customer(scale.customers());
    return new NewOrder(warehouse, district(), customer, List.copyOf(lines), nowMillis);
  }

  private Payment payment(int warehouse, long nowMillis) {
    int customersWarehouse = chooser.isIn(85) ? warehouse : otherThan(warehouse);
    return new Payment(
        warehouse,
        district(),
        who(customersWarehouse, district()),
        chooser.between(100, 500_000),
        Long.toHexString(chooser.next()),
        nowMillis);
  }

  private int district() {
    return chooser.between(1, Scale.DISTRICTS);
  }

  /** Another one if there is one. */
  private int otherThan(int warehouse) {
    if (scale.warehouses() == 1) {
      return warehouse;
    }
    int other = chooser.between(1, scale.warehouses() - 1);
    return other < warehouse ? other : other + 1;
  }

  private Who who(int warehouse, int district) {
    return chooser.isIn(60)
        ? new Who(warehouse, district, 0, chooser.lastName(scale.customers()))
        : new Who(warehouse, district, chooser.customer(scale.customers()), "");
  }
}
