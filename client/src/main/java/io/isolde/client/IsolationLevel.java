// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

/** How much a transaction is kept apart from those that run beside it. */
public enum IsolationLevel {
  /** Reads as of the start; two transactions that write the same row conflict. */
  SNAPSHOT,
  /** As {@link #SNAPSHOT}, and what was read must not have changed until the commit. */
  SERIALIZABLE
}
