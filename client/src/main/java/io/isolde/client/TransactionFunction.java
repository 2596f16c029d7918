// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

/**
 * Work done in a transaction. May run more than once, so it must not have effects outside the
 * transaction that can't be repeated.
 *
 * @param <T> the result
 * @param <X> the checked exception it may throw, if any
 */
@FunctionalInterface
public interface TransactionFunction<T, X extends Exception> {
  /** Reads and writes through {@code tx}, which is committed when this returns. */
  T apply(Transaction tx) throws X;
}
