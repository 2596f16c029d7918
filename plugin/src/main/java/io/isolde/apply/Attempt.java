// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import io.isolde.oracle.group.Stable;
import java.util.Optional;

/**
 * What came of an attempt to apply a commit.
 *
 * @param isApplied whether all of it is on a quorum of its replicas
 * @param reported what the oracle's leader said to that, if it has heard of it as a replica; empty
 *     if it has to be told
 */
record Attempt(boolean isApplied, Optional<Stable> reported) {
  static final Attempt FAILED = new Attempt(false, Optional.empty());
  static final Attempt UNREPORTED = new Attempt(true, Optional.empty());

  /** This, of which the leader has heard. */
  Attempt with(Optional<Stable> stable) {
    return isApplied && stable.isPresent() ? new Attempt(true, stable) : this;
  }

  /** This, and another part of the same commit. */
  Attempt and(boolean isOtherApplied) {
    return isOtherApplied ? this : FAILED;
  }
}
