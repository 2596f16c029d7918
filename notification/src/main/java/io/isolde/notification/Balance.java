// SPDX-License-Identifier: Apache-2.0
package io.isolde.notification;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Stream;

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

  /** On their way to one node, from all nodes that have too many, however quickly it logs in. */
  static final int MAX_MOVING_TO_ONE = 1_000;

  /** A node that does not say how many it logs in in a second. */
  static final int UNKNOWN_LOGINS = 50;

  /** A session that was asked to move is on its way for so long, unless it has gone before. */
  private static final long MAX_ON_ITS_WAY_MILLIS = 3_000;

  /** An eighth of the watchers, so that many move in as many steps as few. */
  private static final int STEP = 8;

  /** At most once in a second, if the caller's clock is a little early. */
  private static final long MIN_PAUSE_MILLIS = 900;

  /**
   * A session, and how many subscriptions it has.
   *
   * @param number the later a session has come, the higher
   */
  public record Session(int number, int watchers) {}

  /** The sessions of a node. */
  public interface Sessions {
    int count();

    /** Subscriptions of all of them. */
    int watchers();

    /** Subscriptions of one; empty if it is gone. */
    OptionalInt watchersOf(int number);

    /** All, the last that came first. Nobody looks at them unless some are to move. */
    Stream<Session> newestFirst();
  }

  /** A session that is to move to a node. */
  public record Move(int session, String target) {}

  private record Node(int watchers, boolean isDraining, int loginsPerSecond, long heardMillis) {}

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
   * @param loginsPerSecond how many it could log in; 0 if it does not say that
   */
  public void heard(
      String node, int watchers, boolean isDraining, int loginsPerSecond, long nowMillis) {
    int logins = loginsPerSecond <= 0 ? UNKNOWN_LOGINS : loginsPerSecond;
    others.put(node, new Node(watchers, isDraining, logins, nowMillis));
  }

  /** A node is no more, or does not answer. */
  public void gone(String node) {
    others.remove(node);
  }

  /**
   * The sessions to ask now; to be called once in a second.
   *
   * @param sessions of this node
   * @param isDraining whether this node is about to stop, and all are to leave
   */
  public List<Move> moves(Sessions sessions, boolean isDraining, long nowMillis) {
    if (nowMillis - lastMillis < MIN_PAUSE_MILLIS) {
      return List.of();
    }
    lastMillis = nowMillis;
    forget(sessions, nowMillis);
    Map<String, Integer> targets = targets(nowMillis);
    if (targets.isEmpty() || sessions.count() == 0) {
      isMoving = false;
      return List.of();
    }
    if (isDraining) {
      // Half of them, and the others in the next step.
      int atMost = Math.max(MAX_MOVES, (sessions.count() + 1) / 2);
      Map<String, Integer> unbounded = all(targets.keySet());
      return choose(sessions.newestFirst(), unbounded, unbounded, atMost, nowMillis);
    }
    int leaving =
        moving.keySet().stream().mapToInt(number -> sessions.watchersOf(number).orElse(0)).sum();
    int own = sessions.watchers() - leaving;
    Map<String, Integer> room = room(own, targets);
    Map<String, Integer> mayMove = mayMove(own, targets, nowMillis);
    room.keySet().removeIf(target -> mayMove.get(target) <= 0);
    if (!hasRoom(room)) {
      return List.of();
    }
    int atMost = Math.min(MAX_MOVES, Math.max(MIN_MOVES, own / STEP));
    return choose(leastAskedFirst(sessions), room, mayMove, atMost, nowMillis);
  }

  /** Of those that were asked as often, the last that came; only as far as somebody looks. */
  private Stream<Session> leastAskedFirst(Sessions sessions) {
    timesAsked.keySet().removeIf(number -> sessions.watchersOf(number).isEmpty());
    Stream<Session> neverAsked =
        sessions.newestFirst().filter(session -> !timesAsked.containsKey(session.number));
    Stream<Session> asked =
        Stream.of(timesAsked)
            .flatMap(
                all ->
                    List.copyOf(all.keySet()).stream()
                        .sorted(
                            Comparator.<Integer, Integer>comparing(all::get)
                                .thenComparing(Comparator.reverseOrder())))
            .map(number -> new Session(number, sessions.watchersOf(number).orElse(0)));
    return Stream.concat(neverAsked, asked).filter(session -> session.watchers > 0);
  }

  /**
   * How many sessions of this node may set out now to each of the others. On their way to one are
   * never more than it logs in within a second. So the quicker it takes them, the more come.
   */
  private Map<String, Integer> mayMove(int own, Map<String, Integer> targets, long nowMillis) {
    double mean = mean(own, targets);
    long others = targets.values().stream().filter(each -> each - mean > threshold(mean)).count();
    Map<String, Integer> mayMove = new HashMap<>();
    for (String target : targets.keySet()) {
      long onTheirWay =
          moving.values().stream()
              .filter(asked -> asked.target.equals(target))
              .filter(asked -> nowMillis - asked.millis <= MAX_ON_ITS_WAY_MILLIS)
              .count();
      long part = Math.max(1, atOnce(this.others.get(target).loginsPerSecond) / (1 + others));
      mayMove.put(target, (int) (part - onTheirWay));
    }
    return mayMove;
  }

  /** How many may be on their way to a node. */
  int atOnce(int loginsPerSecond) {
    return Math.min(loginsPerSecond, MAX_MOVING_TO_ONE);
  }

  private void forget(Sessions sessions, long nowMillis) {
    moving
        .entrySet()
        .removeIf(
            entry ->
                sessions.watchersOf(entry.getKey()).isEmpty()
                    || nowMillis - entry.getValue().millis > MAX_MOVE_MILLIS);
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
      Stream<Session> sessions,
      Map<String, Integer> room,
      Map<String, Integer> mayMove,
      int atMost,
      long nowMillis) {
    List<Move> moves = new ArrayList<>();
    Map<String, Integer> movesTo = new HashMap<>();
    Iterator<Session> newest = sessions.iterator();
    while (moves.size() < atMost && hasRoom(room) && newest.hasNext()) {
      Session session = newest.next();
      String target = roomiest(room);
      if (!moving.containsKey(session.number) && session.watchers <= room.get(target)) {
        room.merge(target, -Math.max(1, session.watchers), Integer::sum);
        Asked asked = new Asked(target, session.watchers, nowMillis);
        moving.put(session.number, asked);
        recent.add(asked);
        timesAsked.merge(session.number, 1, Integer::sum);
        moves.add(new Move(session.number, target));
        if (movesTo.merge(target, 1, Integer::sum) >= mayMove.get(target)) {
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
