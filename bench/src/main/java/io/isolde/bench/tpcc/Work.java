// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.tpcc;

/**
 * One transaction with its input, chosen beforehand, so that running it again after a conflict does
 * the same.
 */
interface Work {

  /** Returns whether it writes nothing. */
  boolean isReadOnly();

  /** Does it, once. */
  void run(Store store);

  /** Something that the standard wants to be rolled back: an order of an item that is not there. */
  final class UnusedItemException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UnusedItemException(int item) {
      super("There is no item " + item + ".");
    }
  }
}
