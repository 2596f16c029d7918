// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import java.util.List;
import java.util.Locale;

/** What the clients do, in the words of the command line. */
public enum WorkloadKind {
  /** Transactions on an ordinary keyspace. */
  TRANSACTIONS,
  /** Transactions in one request, beside others, on an ordinary keyspace. */
  BLOCKS,
  /** Transactions at SNAPSHOT whose conflicts are by cell, on an ordinary keyspace. */
  CELLS,
  /** Transactions on rows that others watch, on an ordinary keyspace. */
  WATCHES,
  /** Single statements on a strong keyspace. */
  STRONG,
  /** Transactions on a strong keyspace. */
  STRONG_TRANSACTIONS,
  /** SELECTs of every shape, beside those of plain tables, where replicas have missed writes. */
  READS;

  /** How somebody is told to lead what the clients use; an address in quotes follows. */
  List<String> handOvers() {
    return switch (this) {
      case TRANSACTIONS, BLOCKS, CELLS, WATCHES -> List.of("ALTER ORACLE LEADER ");
      case STRONG -> List.of("ALTER KEYSPACE strong LEADER ");
      case STRONG_TRANSACTIONS -> List.of("ALTER ORACLE LEADER ", "ALTER KEYSPACE torture LEADER ");
      case READS -> List.of();
    };
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
