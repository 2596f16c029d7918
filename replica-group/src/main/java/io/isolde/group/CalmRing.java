// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import java.util.Set;

/**
 * Decides when replicas are moved without a command. That is when the same nodes have been in the
 * ring, and all of them up, for a while; and at once when a node is leaving, since it does not
 * wait. Pure; for one thread.
 */
public final class CalmRing {
  private static final int MAX_BACK_OFF_FACTOR = 16;

  private final long calmMillis;
  private Seen last;
  private long sinceMillis;
  private long notBeforeMillis;
  private int failures;
  private boolean isDone;

  /**
   * What a node sees of the ring.
   *
   * @param nodes the ids of all that have tokens
   * @param leaving the addresses of those of them that are leaving
   * @param isWhole whether all that stay are up
   */
  public record Seen(Set<String> nodes, Set<String> leaving, boolean isWhole) {
    public Seen {
      nodes = Set.copyOf(nodes);
      leaving = Set.copyOf(leaving);
    }

    private boolean isSameRing(Seen other) {
      return other != null && nodes.equals(other.nodes) && leaving.equals(other.leaving);
    }
  }

  /**
   * Makes one that has seen nothing yet.
   *
   * @param calmMillis how long nothing must have changed
   */
  public CalmRing(long calmMillis) {
    this.calmMillis = calmMillis;
  }

  /**
   * Whether replicas are to be moved now, if some are elsewhere than where they are wanted. To be
   * asked again and again, also by a node that would not move them: it may be its turn later.
   */
  public boolean isDue(long nowMillis, Seen now) {
    if (!now.isSameRing(last)) {
      isDone = false;
    }
    if (!now.equals(last)) {
      last = now;
      sinceMillis = nowMillis;
      notBeforeMillis = nowMillis;
      failures = 0;
    }
    boolean isCalm = !now.leaving().isEmpty() || nowMillis - sinceMillis >= calmMillis;
    return !isDone && now.isWhole() && isCalm && nowMillis >= notBeforeMillis;
  }

  /** All is where it is wanted, until the ring changes. */
  public void done() {
    isDone = true;
  }

  /** Something could not be moved; it is tried again after a time that doubles, up to 16 times. */
  public void failed(long nowMillis) {
    long factor = Math.min(MAX_BACK_OFF_FACTOR, 1L << Math.min(failures++, 4));
    notBeforeMillis = nowMillis + calmMillis * factor;
  }
}
