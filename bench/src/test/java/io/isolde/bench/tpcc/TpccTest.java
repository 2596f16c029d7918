// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.tpcc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.isolde.bench.tpcc.Consistency.Violation;
import io.isolde.bench.tpcc.Store.Row;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class TpccTest {
  private static final Scale SCALE = new Scale(2, 10, 100);
  private static final long SEED = 17;
  private static final int TRANSACTIONS = 300;

  private final MemoryStore store = loaded();

  private static MemoryStore loaded() {
    MemoryStore store = new MemoryStore();
    InitialData.write(SCALE, SEED, store::put);
    return store;
  }

  private static void run(MemoryStore store, int transactions) {
    TransactionMix mix = new TransactionMix(SCALE, new Chooser(SEED));
    for (int i = 0; i < transactions; i++) {
      for (Work work : mix.next(i)) {
        try {
          work.run(store);
        } catch (Work.UnusedItemException rolledBack) {
          // As the standard wants.
        }
      }
    }
  }

  private List<Integer> violated() {
    return Consistency.violations(store, SCALE).stream().map(Violation::condition).toList();
  }

  @Test
  void whenTheDataIsWrittenThenAllConditionsHold() {
    assertThat(Consistency.violations(store, SCALE)).isEmpty();
    assertThat(store.size(Table.CUSTOMER)).isEqualTo(2 * 10 * 10);
    assertThat(store.size(Table.STOCK)).isEqualTo(2 * 100);
    assertThat(store.size(Table.NEW_ORDER)).isEqualTo(2 * 10 * 3);
  }

  @Test
  void whenTransactionsRunOneAfterTheOtherThenAllConditionsHold() {
    run(store, TRANSACTIONS);
    assertThat(Consistency.violations(store, SCALE)).isEmpty();
    assertThat(store.size(Table.ORDERS)).isGreaterThan(2 * 10 * 10);
    assertThat(store.size(Table.HISTORY)).isPositive();
  }

  @Test
  void whenTheSeedIsTheSameThenSoIsEverything() {
    MemoryStore again = loaded();
    run(store, 50);
    run(again, 50);
    assertThat(again.content()).isEqualTo(store.content());
  }

  @Test
  void whenManyAreChosenThenEachHasItsShare() {
    TransactionMix mix = new TransactionMix(SCALE, new Chooser(SEED));
    Map<Class<?>, Integer> counts = new HashMap<>();
    int all = 20_000;
    for (int i = 0; i < all; i++) {
      counts.merge(mix.next(0).get(0).getClass(), 1, Integer::sum);
    }
    Map<Class<?>, Double> percents =
        counts.entrySet().stream()
            .collect(Collectors.toMap(Map.Entry::getKey, e -> 100.0 * e.getValue() / all));
    assertThat(percents.get(NewOrder.class)).isEqualTo(45, within(1.5));
    assertThat(percents.get(Payment.class)).isEqualTo(43, within(1.5));
    assertThat(percents.get(OrderStatus.class)).isEqualTo(4, within(1.0));
    assertThat(percents.get(Delivery.class)).isEqualTo(4, within(1.0));
    assertThat(percents.get(StockLevel.class)).isEqualTo(4, within(1.0));
  }

  @Test
  void whenAnOrderIsPlacedThenItIsThereAndTheStockIsLess() {
    store.put(Table.STOCK, Row.of("quantity", 50), 2, 7);
    store.put(Table.STOCK, Row.of("quantity", 12), 1, 8);
    new NewOrder(1, 3, 4, List.of(new NewOrder.Line(7, 2, 5), new NewOrder.Line(8, 1, 5)), 1000L)
        .run(store);
    assertThat(store.get(Table.DISTRICT, 1, 3).number("next_o_id")).isEqualTo(12);
    Row order = store.get(Table.ORDERS, 1, 3, 11);
    assertThat(order.number("ol_cnt")).isEqualTo(2);
    assertThat(order.number("all_local")).isZero();
    assertThat(store.find(Table.NEW_ORDER, 1, 3, 11)).isPresent();
    Row remote = store.get(Table.STOCK, 2, 7);
    assertThat(remote.number("quantity")).isEqualTo(45);
    assertThat(remote.number("remote_cnt")).isEqualTo(1);
    assertThat(store.get(Table.STOCK, 1, 8).number("quantity")).isEqualTo(12 - 5 + 91);
    assertThat(store.get(Table.ORDER_LINE, 1, 3, 11, 2).amount("amount"))
        .isEqualTo(5 * store.get(Table.ITEM, 8).amount("price"));
  }

  @Test
  void whenAnItemIsNotThereThenNothingIsWritten() {
    String before = store.content();
    NewOrder order =
        new NewOrder(
            1, 3, 4, List.of(new NewOrder.Line(7, 1, 5), new NewOrder.Line(0, 1, 5)), 1000L);
    assertThatThrownBy(() -> order.run(store)).isInstanceOf(Work.UnusedItemException.class);
    assertThat(store.content()).isEqualTo(before);
  }

  @Test
  void whenACustomerPaysThenWarehouseAndDistrictHaveItAndTheDebtIsLess() {
    long ofWarehouse = store.get(Table.WAREHOUSE, 1).amount("ytd");
    long ofDistrict = store.get(Table.DISTRICT, 1, 2).amount("ytd");
    long balance = store.get(Table.CUSTOMER, 2, 5, 6).amount("balance");
    new Payment(1, 2, new Who(2, 5, 6, ""), 250, "id", 1000L).run(store);
    assertThat(store.get(Table.WAREHOUSE, 1).amount("ytd")).isEqualTo(ofWarehouse + 250);
    assertThat(store.get(Table.DISTRICT, 1, 2).amount("ytd")).isEqualTo(ofDistrict + 250);
    Row customer = store.get(Table.CUSTOMER, 2, 5, 6);
    assertThat(customer.amount("balance")).isEqualTo(balance - 250);
    assertThat(customer.number("payment_cnt")).isEqualTo(2);
    assertThat(store.get(Table.HISTORY, 2, 5, 6, "id").amount("amount")).isEqualTo(250);
  }

  @Test
  void whenACustomerIsNamedByLastNameThenItIsTheOneInTheMiddleByFirstName() {
    for (String first : List.of("b", "a", "c")) {
      store.put(Table.CUSTOMER_BY_NAME, Row.EMPTY, 1, 1, "MANY", first, first.charAt(0) - 'a');
    }
    assertThat(new Who(1, 1, 0, "MANY").find(store)).isEqualTo(1);
  }

  @Test
  void whenAnOrderIsDeliveredThenItIsTheOldestAndItsCustomerOwesIt() {
    long balance = store.get(Table.CUSTOMER, 1, 1, 8).amount("balance");
    long sum =
        store.slice(Table.ORDER_LINE, 100, 1, 1, 8).stream()
            .mapToLong(line -> line.amount("amount"))
            .sum();
    new Delivery(1, 1, 9, 1000L).run(store);
    assertThat(store.find(Table.NEW_ORDER, 1, 1, 8)).isEmpty();
    assertThat(store.get(Table.ORDERS, 1, 1, 8).number("carrier_id")).isEqualTo(9);
    assertThat(store.get(Table.CUSTOMER, 1, 1, 8).amount("balance")).isEqualTo(balance + sum);
    assertThat(store.get(Table.ORDER_LINE, 1, 1, 8, 1).amount("delivered_at")).isEqualTo(1000);
  }

  @Test
  void whenNothingWaitsThenADeliveryDoesNothing() {
    for (int i = 0; i < 4; i++) {
      new Delivery(1, 1, 9, 1000L).run(store);
    }
    assertThat(store.slice(Table.NEW_ORDER, 10, 1, 1)).isEmpty();
    assertThat(Consistency.violations(store, SCALE)).isEmpty();
  }

  @Test
  void whenStocksAreLowThenTheyAreCounted() {
    int item = store.get(Table.ORDER_LINE, 1, 1, 10, 1).number("i_id");
    for (int i = 1; i <= SCALE.items(); i++) {
      store.put(Table.STOCK, Row.of("quantity", i == item ? 9 : 20), 1, i);
    }
    assertThat(new StockLevel(1, 1, 10).count(store)).isEqualTo(1);
  }

  @Test
  void whenAPaymentIsLostThenConditionOneSaysSo() {
    store.put(Table.WAREHOUSE, Row.of("ytd", 1L), 2);
    assertThat(violated()).containsExactly(1);
  }

  @Test
  void whenANumberOfAnOrderIsLostThenConditionTwoSaysSo() {
    store.put(Table.DISTRICT, Row.of("next_o_id", 10), 1, 1);
    assertThat(violated()).containsExactly(2);
  }

  @Test
  void whenAWaitingOrderIsLostThenConditionThreeSaysSo() {
    store.delete(Table.NEW_ORDER, 1, 1, 9);
    assertThat(violated()).containsExactly(3);
  }

  @Test
  void whenALineIsLostThenConditionFourSaysSo() {
    store.delete(Table.ORDER_LINE, 1, 1, 9, 1);
    assertThat(violated()).containsExactly(4);
  }

  @Test
  void whenALastNameIsMadeThenItsSyllablesAreTheDigits() {
    assertThat(Chooser.lastNameOf(371)).isEqualTo("PRICALLYOUGHT");
  }

  @Test
  void whenTablesAreCreatedThenTheKeysAreThoseOfTheStatements() {
    assertThat(Table.ORDER_LINE.createStatement("k"))
        .startsWith("CREATE TABLE k.order_line (w_id int, d_id int, o_id int, ol_number int,")
        .endsWith("PRIMARY KEY ((w_id, d_id, o_id), ol_number))");
    assertThat(Table.ITEM.createStatement("k")).endsWith("PRIMARY KEY ((i_id)))");
  }
}
