// SPDX-License-Identifier: Apache-2.0
package io.isolde.notification;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which sessions a node asks to move, so that all nodes have about as many watchers: those that
 * came last, as in the ACaZoo thesis. Each node decides for itself, from what the others have said.
 *
 * <p>Two nodes that have too many must not both fill up a third one. So each takes only its share
 * of what is missing there. And a move counts from when it was asked for, since the next figures
 * may not know of it yet.
 *
 * <p>Not thread-safe.
 */
public class Balance {
  /** What a node has said is out of date after that. */
  static final long MAX_AGE_MILLIS = 5_000;

  /** A session that has not moved by then does not count as moving any more. */
  static final long MAX_MOVE_MILLIS = 10_000;

  /** What a node says has the moves in it that were asked for so long before. */
  private static final long MAX_UNCOUNTED_MILLIS = 1_500;

  /** A difference below which moving is not worth it. */
  static final int MIN_EXCESS = 4;

  /** A tenth above the mean is near enough, too. */
  private static final int NEAR = 10;

  static final int MAX_MOVES = 500;
  private static final int MIN_MOVES = 50;

  /** Towards one node in a step, from all nodes that have too many: it has to log them in. */
  static final int MAX_MOVES_TO_ONE = 50;

  /** An eighth of the watchers, so that many move in as many steps as few. */
  private static final int STEP = 8;

  /** At most once in a second, if the caller's clock is a little early. */
  private static final long MIN_PAUSE_MILLIS = 900;

  /** A session, and how many subscriptions it has. */
  public record Session(int number, int watchers) {}

  /** A session that is to move to a node. */
  public record Move(int session, String target) {}

  private record Node(int watchers, boolean isDraining, long heardMillis) {}

  private record Asked(String target, int watchers, long millis) {}

  private final Map<String, Node> others = new HashMap<>();

  /** By session; until it is gone, or too old. */
  private final Map<Integer, Asked> moving = new HashMap<>();

  /** That the figures of the others may not have yet. */
  private final List<Asked> recent = new ArrayList<>();

  /** How often each session of this node was asked; for those that were. */
  private final Map<Integer, Integer> timesAsked = new HashMap<>();

  private boolean isMoving;
  private long lastMillis = Long.MIN_VALUE / 2;

  /**
   * A node has said how many watchers it has.
   *
   * @param isDraining whether it is about to stop
   */
  public void heard(String node, int watchers, boolean isDraining, long nowMillis) {
    others.put(node, new Node(watchers, isDraining, nowMillis));
  }

  /** A node is no more, or does not answer. */
  public void gone(String node) {
    others.remove(node);
  }

  /**
   * The sessions to ask now; to be called once in a second.
   *
   * @param sessions of this node, the last that came first
   * @param isDraining whether this node is about to stop, and all are to leave
   */
  public List<Move> moves(List<Session> sessions, boolean isDraining, long nowMillis) {
    if (nowMillis - lastMillis < MIN_PAUSE_MILLIS) {
      return List.of();
    }
    lastMillis = nowMillis;
    forget(sessions, nowMillis);
    Map<String, Integer> targets = targets(nowMillis);
    if (targets.isEmpty() || sessions.isEmpty()) {
      isMoving = false;
      return List.of();
    }
    int own =
        sessions.stream()
            .filter(session -> !moving.containsKey(session.number))
            .mapToInt(Session::watchers)
            .sum();
    if (isDraining) {
      // Half of them, and the others in the next step.
      int atMost = Math.max(MAX_MOVES, (sessions.size() + 1) / 2);
      return choose(sessions, all(targets.keySet()), atMost, atMost, nowMillis);
    }
    List<Session> watching =
        sessions.stream()
            .filter(session -> session.watchers > 0)
            .sorted(Comparator.comparing(session -> timesAsked.getOrDefault(session.number, 0)))
            .toList();
    Map<String, Integer> room = room(own, targets);
    int atMost = Math.min(MAX_MOVES, Math.max(MIN_MOVES, own / STEP));
    return choose(watching, room, atMost, movesToOne(own, targets), nowMillis);
  }

  /** This node's part of what may move to one node in a step. */
  private int movesToOne(int own, Map<String, Integer> targets) {
    double mean = mean(own, targets);
    long others = targets.values().stream().filter(each -> each - mean > threshold(mean)).count();
    return (int) Math.max(1, MAX_MOVES_TO_ONE / (1 + others));
  }

  private void forget(List<Session> sessions, long nowMillis) {
    Set<Integer> here = new HashSet<>();
    sessions.forEach(session -> here.add(session.number));
    moving.keySet().retainAll(here);
    timesAsked.keySet().retainAll(here);
    moving.values().removeIf(asked -> nowMillis - asked.millis > MAX_MOVE_MILLIS);
    recent.removeIf(asked -> nowMillis - asked.millis > MAX_AGE_MILLIS + MAX_UNCOUNTED_MILLIS);
  }

  /** How many watchers the nodes will have that can take some. */
  private Map<String, Integer> targets(long nowMillis) {
    Map<String, Integer> targets = new HashMap<>();
    others.forEach(
        (name, node) -> {
          if (!node.isDraining && isFresh(node.heardMillis, nowMillis)) {
            targets.put(name, node.watchers + underWay(name, node));
          }
        });
    return targets;
  }

  boolean isFresh(long heardMillis, long nowMillis) {
    return nowMillis - heardMillis <= MAX_AGE_MILLIS;
  }

  private int underWay(String target, Node node) {
    return recent.stream()
        .filter(asked -> asked.target.equals(target))
        .filter(asked -> asked.millis > node.heardMillis - MAX_UNCOUNTED_MILLIS)
        .mapToInt(Asked::watchers)
        .sum();
  }

  private static Map<String, Integer> all(Set<String> targets) {
    Map<String, Integer> room = new HashMap<>();
    targets.forEach(target -> room.put(target, Integer.MAX_VALUE));
    return room;
  }

  /** How many watchers this node may send to each of the others. */
  private Map<String, Integer> room(int own, Map<String, Integer> targets) {
    double mean = mean(own, targets);
    double excess = own - mean;
    // Some that move may count twice for now, so it is not over before the figures have them.
    boolean isEnough = excess <= 1 && recent.isEmpty();
    isMoving = excess > threshold(mean) || (isMoving && !isEnough);
    Map<String, Integer> room = new HashMap<>();
    if (isMoving && excess > 1) {
      double share = share(excess, mean, targets);
      targets.forEach((name, watchers) -> room.put(name, (int) ((mean - watchers) * share)));
    }
    return room;
  }

  private static double mean(int own, Map<String, Integer> targets) {
    return (own + targets.values().stream().mapToLong(each -> each).sum()) / (1.0 + targets.size());
  }

  double threshold(double mean) {
    return Math.max(MIN_EXCESS, mean / NEAR);
  }

  /** This node's part of what those have too much who move some of it. */
  double share(double excess, double mean, Map<String, Integer> targets) {
    double ofOthers =
        targets.values().stream()
            .mapToDouble(each -> each - mean)
            .filter(each -> each > threshold(mean))
            .sum();
    return excess / (excess + ofOthers);
  }

  private List<Move> choose(
      List<Session> sessions,
      Map<String, Integer> room,
      int atMost,
      int atMostToOne,
      long nowMillis) {
    List<Move> moves = new ArrayList<>();
    Map<String, Integer> movesTo = new HashMap<>();
    Iterator<Session> newest = sessions.iterator();
    while (newest.hasNext() && moves.size() < atMost && hasRoom(room)) {
      Session session = newest.next();
      String target = roomiest(room);
      if (!moving.containsKey(session.number) && session.watchers <= room.get(target)) {
        room.merge(target, -Math.max(1, session.watchers), Integer::sum);
        Asked asked = new Asked(target, session.watchers, nowMillis);
        moving.put(session.number, asked);
        recent.add(asked);
        timesAsked.merge(session.number, 1, Integer::sum);
        moves.add(new Move(session.number, target));
        if (movesTo.merge(target, 1, Integer::sum) == atMostToOne) {
          room.remove(target);
        }
      }
    }
    return moves;
  }

  private static boolean hasRoom(Map<String, Integer> room) {
    return room.values().stream().anyMatch(each -> each > 0);
  }

  private static String roomiest(Map<String, Integer> room) {
    return room.entrySet().stream()
        .max(
            Map.Entry.<String, Integer>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
        .orElseThrow()
        .getKey();
  }
}
