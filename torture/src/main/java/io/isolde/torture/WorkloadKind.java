// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import java.util.Locale;

/** What the clients do, in the words of the command line. */
public enum WorkloadKind {
  /** Transactions on an ordinary keyspace. */
  TRANSACTIONS,
  /** Single statements on a strong keyspace. */
  STRONG,
  /** Transactions on a strong keyspace. */
  STRONG_TRANSACTIONS;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
