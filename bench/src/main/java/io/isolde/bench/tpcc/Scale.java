// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.tpcc;

/**
 * How much data there is.
 *
 * @param warehouses what throughput scales with, since every payment writes its warehouse
 * @param customers of a district, each with one order at the beginning; 3000 in the standard
 * @param items that can be ordered, each in stock in every warehouse; 100,000 in the standard
 */
record Scale(int warehouses, int customers, int items) {
  /** Of each warehouse. */
  static final int DISTRICTS = 10;

  public Scale {
    if (warehouses < 1 || customers < 10 || items < 100) {
      throw new IllegalArgumentException(
          "TPC-C needs a warehouse, ten customers and a hundred items at least, not %d, %d and %d."
              .formatted(warehouses, customers, items));
    }
  }
}
