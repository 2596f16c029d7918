// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.Decision;
import java.util.Optional;

/**
 * What the oracle has decided, and whether its leader has applied it, too.
 *
 * @param applied what was stable at the leader when it had applied the commit; empty if that is
 *     left to its coordinator
 */
public record Decided(Decision decision, Optional<Stable> applied) {
  /** One that its coordinator has to apply, if it is to commit. */
  public static Decided toBeApplied(Decision decision) {
    return new Decided(decision, Optional.empty());
  }
}
