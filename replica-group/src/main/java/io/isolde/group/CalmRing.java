// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Decides when replicas and leaders are moved without a command. That is when the same nodes have
 * been in the ring, and all of them up, for a while. Replicas are moved at once when a node is
 * leaving, since it does not wait. A node that was down has its replicas still, and leads nothing.
 * Pure; for one thread.
 */
public final class CalmRing {
  private static final int MAX_BACK_OFF_FACTOR = 16;

  private final long calmMillis;
  private Seen last;
  private long sinceMillis;
  private long notBeforeMillis;
  private int failures;
  private boolean isMoved;
  private boolean isSpread;
  private Due due = Due.NOTHING;

  /** By keyspace, if it is not what is due: of a round in which others were not done. */
  private final Map<String, Due> left = new HashMap<>();

  /** What is to be done now, where things are elsewhere than they are wanted. */
  public enum Due {
    /** Nothing. */
    NOTHING,
    /** Leaders are to be spread. */
    LEADERS,
    /** Replicas are to be moved, and then leaders be spread. */
    REPLICAS
  }

  /**
   * What a node sees of the ring.
   *
   * @param nodes the ids of all that have tokens
   * @param leaving the addresses of those of them that are leaving
   * @param starts what is another for each node after each start: nobody may notice that a node was
   *     down
   * @param wishes by keyspace, what says how many replicas it is to have, and where
   * @param isWhole whether all that stay are up
   */
  public record Seen(
      Set<String> nodes,
      Set<String> leaving,
      Set<String> starts,
      Map<String, String> wishes,
      boolean isWhole) {
    public Seen {
      wishes = Map.copyOf(wishes);
      nodes = Set.copyOf(nodes);
      leaving = Set.copyOf(leaving);
      starts = Set.copyOf(starts);
    }

    private boolean isSameRing(Seen other) {
      return other != null
          && nodes.equals(other.nodes)
          && leaving.equals(other.leaving)
          && other.wishes.entrySet().stream()
              .allMatch(
                  wish ->
                      wishes.getOrDefault(wish.getKey(), wish.getValue()).equals(wish.getValue()));
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
   * What is due. To be asked again and again, also by a node that would not move anything: it may
   * be its turn later.
   */
  public Due due(long nowMillis, Seen now) {
    boolean isSameRing = now.isSameRing(last);
    boolean isSame =
        isSameRing && now.isWhole() == last.isWhole() && now.starts.equals(last.starts);
    last = now;
    if (!isSameRing) {
      isMoved = false;
      left.clear();
    }
    if (!isSame) {
      isSpread = false;
      left.replaceAll((keyspace, before) -> before == Due.NOTHING ? Due.LEADERS : before);
      sinceMillis = nowMillis;
      notBeforeMillis = nowMillis;
      failures = 0;
    }
    due = due(nowMillis);
    return due;
  }

  private Due due(long nowMillis) {
    boolean isCalm = nowMillis - sinceMillis >= calmMillis;
    if (!last.isWhole() || nowMillis < notBeforeMillis) {
      return Due.NOTHING;
    }
    if (!isMoved) {
      return isCalm || !last.leaving().isEmpty() ? Due.REPLICAS : Due.NOTHING;
    }
    return isCalm && !isSpread ? Due.LEADERS : Due.NOTHING;
  }

  /** What is due for a keyspace: less, if it was done and others were not. */
  public Due due(String keyspace) {
    return left.getOrDefault(keyspace, due);
  }

  /**
   * Notes what could not be done for a keyspace now.
   *
   * @param rest {@code NOTHING} if all was done
   */
  public void moved(String keyspace, Due rest) {
    left.put(keyspace, rest);
  }

  /**
   * A round is over. If something is left, another one follows; else none does until nodes come, go
   * or restart, or a keyspace is to have other numbers of replicas.
   *
   * @param keyspaces all that there are
   */
  public void ended(long nowMillis, Set<String> keyspaces) {
    left.keySet().retainAll(keyspaces);
    if (!keyspaces.stream().allMatch(keyspace -> due(keyspace) == Due.NOTHING)) {
      failed(nowMillis);
      return;
    }
    isMoved = true;
    isSpread = true;
    left.clear();
  }

  /** Something could not be moved; it is tried again after a time that doubles, up to 16 times. */
  public void failed(long nowMillis) {
    long factor = Math.min(MAX_BACK_OFF_FACTOR, 1L << Math.min(failures++, 4));
    notBeforeMillis = nowMillis + calmMillis * factor;
  }
}
