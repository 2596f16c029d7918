// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.Peer;
import java.util.List;
import java.util.Optional;

/**
 * Whom a request asks that looks for a group's leader: who is said to lead, but not for ever, since
 * two nodes that know no better could go on naming each other; and the members in turn. Pure.
 *
 * <p>A new leader refuses for a moment, until it is ready. It is asked again for a while before
 * anybody else is: the others may be the old leader, which hangs, and takes a second to give up.
 */
final class MemberSearch {
  private static final int MAX_HOPS = 3;

  /** As often is asked who is known to lead, if nobody names another, before somebody else is. */
  static final int PATIENCE = 16;

  private int attempts;
  private int hops;
  private int rounds = 1;

  /** How many were asked. */
  int attempts() {
    return attempts;
  }

  /**
   * Who is asked next.
   *
   * @param known who leads as far as this node's own replica knows
   * @param hinted who leads as far as others have said
   * @param members not empty
   */
  Peer next(Optional<Peer> known, Optional<Peer> hinted, List<Peer> members) {
    attempts++;
    Optional<Peer> another = hinted.filter(peer -> !known.equals(Optional.of(peer)));
    int roundsOfOthers = another.isPresent() ? 2 : PATIENCE;
    if (known.isPresent() && attempts % roundsOfOthers != 0) {
      return known.get();
    }
    if (another.isPresent() && hops < MAX_HOPS) {
      hops++;
      return another.get();
    }
    hops = 0;
    return members.get(rounds++ % members.size());
  }
}
