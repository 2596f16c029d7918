// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.tpcc;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * The tables of TPC-C (clause 1.3). They have the columns that a transaction reads or writes, or
 * that make a row as large as it should be; money is in cents, taxes and discounts in hundredths of
 * a percent. A partition is as small as the transactions allow. Two tables are indexes that
 * Cassandra has to be given: customers by last name, orders by customer.
 */
@SuppressWarnings("ImmutableEnumChecker") // Its lists can't be modified.
enum Table {
  ITEM("i_id int", "", "name text, price bigint, data text"),
  WAREHOUSE("w_id int", "", "name text, tax int, ytd bigint"),
  DISTRICT("w_id int, d_id int", "", "name text, tax int, ytd bigint, next_o_id int"),
  CUSTOMER(
      "w_id int, d_id int, c_id int",
      "",
      "first text, last text, credit text, discount int, balance bigint, ytd_payment bigint,"
          + " payment_cnt int, delivery_cnt int, data text"),
  CUSTOMER_BY_NAME("w_id int, d_id int, last text", "first text, c_id int", ""),
  HISTORY(
      "w_id int, d_id int, c_id int",
      "h_id text",
      "home_w_id int, home_d_id int, amount bigint, paid_at bigint"),
  NEW_ORDER("w_id int, d_id int", "o_id int", ""),
  ORDERS(
      "w_id int, d_id int",
      "o_id int",
      "c_id int, entered_at bigint, carrier_id int, ol_cnt int, all_local int"),
  ORDER_BY_CUSTOMER("w_id int, d_id int, c_id int", "o_id int", ""),
  ORDER_LINE(
      "w_id int, d_id int, o_id int",
      "ol_number int",
      "i_id int, supply_w_id int, delivered_at bigint, quantity int, amount bigint"),
  STOCK(
      "w_id int, i_id int",
      "",
      "quantity int, ytd bigint, order_cnt int, remote_cnt int, data text");

  private final List<String> partitionKey;
  private final List<String> clusteringKey;
  private final String definition;

  Table(String partitionKey, String clusteringKey, String columns) {
    this.partitionKey = names(partitionKey);
    this.clusteringKey = names(clusteringKey);
    String primaryKey =
        "PRIMARY KEY ((%s)%s)"
            .formatted(
                String.join(", ", this.partitionKey),
                this.clusteringKey.isEmpty() ? "" : ", " + String.join(", ", this.clusteringKey));
    this.definition =
        String.join(
            ", ",
            Arrays.stream(new String[] {partitionKey, clusteringKey, columns, primaryKey})
                .filter(part -> !part.isEmpty())
                .toList());
  }

  private static List<String> names(String columns) {
    return columns.isEmpty()
        ? List.of()
        : Arrays.stream(columns.split(", ", -1)).map(c -> c.split(" ", -1)[0]).toList();
  }

  /** Returns the columns of the primary key. */
  List<String> key() {
    List<String> all = new ArrayList<>(partitionKey);
    all.addAll(clusteringKey);
    return all;
  }

  /** Returns how many of the key's columns name the partition. */
  int partitionColumns() {
    return partitionKey.size();
  }

  /** Returns the name in CQL. */
  public String cqlName() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the statement that creates it. */
  public String createStatement(String keyspace) {
    // The newest orders are asked for by customer, the oldest by district.
    String order = this == ORDER_BY_CUSTOMER ? " WITH CLUSTERING ORDER BY (o_id DESC)" : "";
    return "CREATE TABLE %s.%s (%s)%s".formatted(keyspace, cqlName(), definition, order);
  }
}
