// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import io.isolde.oracle.group.Stable;
import java.util.Optional;

/** Parts of a commit on their way to one replica. One of the two callbacks comes, once. */
interface BatchItem {
  /** As {@link BatchFrames#item} has made it. */
  byte[] bytes();

  /**
   * The replica has it, as durably as Cassandra's own answer to a write says.
   *
   * @param stable what is stable now, if the replica leads the oracle and was told by a batch item
   *     of this message that a commit is applied
   */
  void acknowledged(Optional<Stable> stable);

  /** The replica has it or not: it must be sent in another way. May come on any thread. */
  void undelivered();
}
