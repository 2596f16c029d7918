// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static java.util.Objects.requireNonNull;

/** The oracle's answer to a {@link CommitRequest}. */
public sealed interface Decision {

  /**
   * The transaction is committed, for good. Its writes must now be applied, and {@link
   * StatusOracle#applied} be called.
   *
   * @param commitTimestamp the timestamp of all its cells, in microseconds; even, so that a
   *     deletion inside the commit can take the one before it
   * @param applyAfter its writes may be applied once {@code stable >= applyAfter} and none of the
   *     {@linkplain StatusOracle#inDoubt commits in doubt} up to there writes what it overwrites; 0
   *     means at once. Two blind writers of one row may overlap; if the later one reached a replica
   *     first, the cell that it replaces would never be seen there and an old snapshot would lack
   *     it.
   */
  record Committed(long commitTimestamp, long applyAfter) implements Decision {
    public Committed {
      assert applyAfter < commitTimestamp : "a commit waits only for earlier ones";
    }
  }

  /**
   * The transaction is aborted, for good; a new one may try the same again.
   *
   * @param conflict the reason; {@link Conflict#REQUESTED} if there is no other
   */
  record Aborted(Conflict conflict) implements Decision {
    public Aborted {
      requireNonNull(conflict);
    }
  }

  /** Nothing was decided, and nothing is remembered. */
  record Refused(Refusal reason) implements Decision {
    public Refused {
      requireNonNull(reason);
    }
  }
}
