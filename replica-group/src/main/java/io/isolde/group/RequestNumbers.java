// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.GroupFailure;
import java.util.TreeSet;

/**
 * Numbers the writes of this node to one group, and remembers which have no answer yet. The oracle
 * has {@code Sequences}, which do not have to know the oldest one.
 */
final class RequestNumbers {
  private final long session;

  /** Guarded by this. At most {@link RetryWindow#MAX_OPEN}. */
  private final TreeSet<Long> open = new TreeSet<>();

  private long last;

  RequestNumbers(long session) {
    this.session = session;
  }

  /**
   * The name of a new write.
   *
   * @throws GroupFailure if too many have no answer
   */
  synchronized RequestId next() {
    if (open.size() >= RetryWindow.MAX_OPEN / 2) {
      throw new GroupFailure(
          GroupFailure.Reason.OVERLOADED, "Too many writes of this node have no answer yet.");
    }
    last++;
    open.add(last);
    return new RequestId(session, last, open.first());
  }

  /** It will not be sent again. */
  synchronized void done(RequestId id) {
    open.remove(id.number());
  }
}
