// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.tpcc;

import io.isolde.bench.tpcc.Store.Row;
import java.util.ArrayList;
import java.util.List;

/**
 * The consistency conditions 1 to 4 of TPC-C (clause 3.3.2), which hold after every transaction.
 */
final class Consistency {
  private final Store store;
  private final List<Violation> violations = new ArrayList<>();

  /**
   * A condition that does not hold for some warehouse or district.
   *
   * @param condition 1 to 4
   */
  public record Violation(int condition, String sentence) {}

  private Consistency(Store store) {
    this.store = store;
  }

  /** Returns what does not hold; none if all is well. Nothing may go on meanwhile. */
  public static List<Violation> violations(Store store, Scale scale) {
    Consistency check = new Consistency(store);
    for (int warehouse = 1; warehouse <= scale.warehouses(); warehouse++) {
      check.warehouse(warehouse);
    }
    return check.violations;
  }

  private void warehouse(int warehouse) {
    long sum = 0;
    for (int district = 1; district <= Scale.DISTRICTS; district++) {
      Row row = store.get(Table.DISTRICT, warehouse, district);
      sum += row.amount("ytd");
      district(warehouse, district, row.number("next_o_id") - 1);
    }
    long ytd = store.get(Table.WAREHOUSE, warehouse).amount("ytd");
    require(
        ytd == sum,
        1,
        "warehouse %d has %d, its districts together %d".formatted(warehouse, ytd, sum));
  }

  private void district(int warehouse, int district, int last) {
    List<Row> orders = store.slice(Table.ORDERS, Integer.MAX_VALUE, warehouse, district);
    List<Integer> waiting =
        store.slice(Table.NEW_ORDER, Integer.MAX_VALUE, warehouse, district).stream()
            .map(row -> row.number("o_id"))
            .toList();
    int newest = orders.isEmpty() ? 0 : orders.get(orders.size() - 1).number("o_id");
    require(
        last == newest && (waiting.isEmpty() || waiting.get(waiting.size() - 1) == last),
        2,
        "district %d/%d gave the number %d last, its newest order is %d, the newest that waits %s"
            .formatted(
                warehouse,
                district,
                last,
                newest,
                waiting.isEmpty() ? "none" : waiting.get(waiting.size() - 1)));
    require(
        waiting.isEmpty() || waiting.get(waiting.size() - 1) - waiting.get(0) + 1 == waiting.size(),
        3,
        "in district %d/%d %d orders wait, with gaps between"
            .formatted(warehouse, district, waiting.size()));
    long promised = orders.stream().mapToLong(order -> order.number("ol_cnt")).sum();
    long lines = lines(warehouse, district, newest);
    require(
        promised == lines,
        4,
        "the orders of district %d/%d say %d lines, but there are %d"
            .formatted(warehouse, district, promised, lines));
  }

  /** Asked for by all numbers, not by the orders that are there: it is to find orphans too. */
  private long lines(int warehouse, int district, int newest) {
    long lines = 0;
    for (int order = 1; order <= newest; order++) {
      lines += store.slice(Table.ORDER_LINE, Integer.MAX_VALUE, warehouse, district, order).size();
    }
    return lines;
  }

  private void require(boolean holds, int condition, String sentence) {
    if (!holds) {
      violations.add(new Violation(condition, sentence));
    }
  }
}
