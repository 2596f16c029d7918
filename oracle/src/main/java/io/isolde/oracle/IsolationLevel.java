// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

/** What a commit is checked for. Both levels read from the snapshot of the start timestamp. */
public enum IsolationLevel {
  /**
   * Snapshot isolation: no transaction replaces what another committed after it started (Algorithm
   * 1). Write skew is possible, but not over rows that a condition has read.
   */
  SNAPSHOT,
  /**
   * Write-snapshot isolation: no transaction writes after reading what another has since replaced
   * (Algorithm 2). Serializable, provided that every writing transaction runs at this level.
   */
  SERIALIZABLE
}
