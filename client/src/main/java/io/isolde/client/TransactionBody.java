// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

/**
 * Work without a result, done in a transaction. May run more than once, as {@link
 * TransactionFunction}.
 *
 * @param <X> the checked exception it may throw, if any
 */
@FunctionalInterface
public interface TransactionBody<X extends Exception> {
  /** Reads and writes through {@code tx}, which is committed when this returns. */
  void accept(Transaction tx) throws X;
}
