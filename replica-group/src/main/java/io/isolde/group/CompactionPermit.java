// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import java.util.List;

/**
 * Lets one node at a time do heavy work, of those that share replica groups. Whoever wants to says
 * so, and looks at what the others say. It begins if nobody works and nobody that waits goes before
 * it, and looks once more: of two that began at the same moment at least one sees the other, and
 * goes back to waiting. As in Lamport's bakery, "A New Solution of Dijkstra's Concurrent
 * Programming Problem" (1974), there is nothing but what each says of itself. So one that dies
 * holds nobody up.
 *
 * <p>Who has waited longest goes first, but leaders count as if they had come later: when their
 * turn comes, the others are done, and one of them can take over. Clocks that differ make it less
 * fair, no more. Who has waited too long goes anyway, so this is a courtesy and no lock.
 *
 * <p>Pure: time and the answers of the others come from outside. One thread at a time changes it,
 * any may ask for the state.
 */
public final class CompactionPermit {
  /** As if leaders came so much later. */
  private static final long LEADER_MILLIS = 10_000;

  /** What a node says of itself. */
  public enum State {
    /** There is nothing to do. */
    IDLE,
    /** It has heavy work before it. */
    WAITING,
    /** It is at it, or about to begin. */
    WORKING
  }

  private final long mostWaitMillis;
  private volatile State state = State.IDLE;
  private volatile long sinceMillis;

  /**
   * Idle.
   *
   * @param mostWaitMillis after so long it goes, whatever the others do
   */
  public CompactionPermit(long mostWaitMillis) {
    this.mostWaitMillis = mostWaitMillis;
  }

  /** What to say to others. */
  public State state() {
    return state;
  }

  /** When it began to wait. */
  public long sinceMillis() {
    return sinceMillis;
  }

  /** There is work to do. The others are to be asked after this. */
  public void want(long nowMillis) {
    assert state != State.WORKING : "one turn at a time";
    if (state == State.IDLE) {
      sinceMillis = nowMillis;
      state = State.WAITING;
    }
  }

  /**
   * Begins, if nobody works and nobody goes first; then the others are to be asked again.
   *
   * @param self this node's id as a member
   * @param isLeader whether this node leads any group
   * @param others those that answered
   */
  public boolean claim(long nowMillis, String self, boolean isLeader, List<MemberLoad> others) {
    assert state == State.WAITING : state;
    boolean isFirst = others.stream().noneMatch(other -> isBefore(other, self, isLeader));
    if (isFirst || isOverdue(nowMillis)) {
      state = State.WORKING;
    }
    return state == State.WORKING;
  }

  private boolean isBefore(MemberLoad other, String self, boolean isLeader) {
    NodeLoad load = other.load();
    return switch (load.compactionPermit()) {
      case IDLE -> false;
      case WAITING -> {
        long difference = place(load.sinceMillis(), load.isLeader()) - place(sinceMillis, isLeader);
        yield difference == 0 ? other.id().compareTo(self) < 0 : difference < 0;
      }
      case WORKING -> true;
    };
  }

  private static long place(long sinceMillis, boolean isLeader) {
    return isLeader ? sinceMillis + LEADER_MILLIS : sinceMillis;
  }

  /** Whether the turn is kept; if another works after all, it is back to waiting. */
  public boolean keep(long nowMillis, List<MemberLoad> others) {
    assert state == State.WORKING : state;
    boolean isAlone =
        others.stream().noneMatch(other -> other.load().compactionPermit() == State.WORKING);
    if (!isAlone && !isOverdue(nowMillis)) {
      state = State.WAITING;
    }
    return state == State.WORKING;
  }

  /** Whether it has waited for so long that it goes anyway. */
  public boolean isOverdue(long nowMillis) {
    return nowMillis - sinceMillis >= mostWaitMillis;
  }

  /** The work is done, or not wanted any more. */
  public void end() {
    state = State.IDLE;
  }
}
