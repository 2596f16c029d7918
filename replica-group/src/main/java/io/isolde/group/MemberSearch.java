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

  /**
   * Between two looks at this node's own replica. It hears of a new leader as soon as the others,
   * which have enough to do while they elect one.
   */
  static final long LOOK_MILLIS = 5;

  /** After so many looks in vain a member is asked all the same: this replica may be cut off. */
  static final int MAX_LOOKS = 10;

  private int attempts;
  private int looks;
  private int hops;
  private int rounds = 1;

  /** How many were asked. */
  int attempts() {
    return attempts;
  }

  /**
   * Whether to look at this node's own replica again after {@link #LOOK_MILLIS}, and to ask nobody
   * meanwhile: nobody is said to lead, and somebody was asked since the last looks.
   *
   * @param known as below
   * @param hinted as below
   */
  boolean isToLook(Optional<Peer> known, Optional<Peer> hinted) {
    boolean isToLook = attempts > 0 && known.isEmpty() && hinted.isEmpty() && looks < MAX_LOOKS;
    looks = isToLook ? looks + 1 : 0;
    return isToLook;
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
