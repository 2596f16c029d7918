// SPDX-License-Identifier: Apache-2.0
package io.isolde.notification;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** A node of a simulated cluster. */
final class SimulatedNode {
  private static final long WAIT_MILLIS = 5_000;
  private static final int MAX_COMMITS = 5;

  /** Who would have to wait longer to log in is refused. */
  static final long MAX_LOGIN_WAIT_MILLIS = 4_000;

  private record Waiting(
      SimulatedConnection from, int id, int question, int key, long after, long startedMillis) {}

  final String name;
  private final Simulation world;
  private final List<Waiting> waiting = new ArrayList<>();
  final List<SimulatedConnection> connections = new ArrayList<>();
  Balance balance;
  boolean isUp = true;
  boolean isDraining;
  boolean isUnreachable;

  /** Its questions fail so long, as when the oracle has no leader. */
  long failingUntil;

  private final int loginsPerSecond;

  /** Until then others log in. */
  private long loginsUntilMillis;

  /** The same, if only those came who were asked to. */
  private long movesUntilMillis;

  /** All commits up to here are visible at this node. */
  private long visible;

  SimulatedNode(String name, Simulation world) {
    this.name = name;
    this.world = world;
    this.balance = world.mistake.balance();
    this.loginsPerSecond = 3 + world.random.nextInt(8);
  }

  /**
   * Lets somebody in when it is his turn.
   *
   * @param isMove whether he was asked to come here
   * @param done gets whether he is in
   */
  void login(boolean isMove, Consumer<Boolean> done) {
    long now = world.nowMillis();
    long waitMillis = Math.max(0, loginsUntilMillis - now);
    if (isMove && isAccepting() && world.isCalm()) {
      movesUntilMillis = Math.max(now, movesUntilMillis) + 1_000 / loginsPerSecond;
      Simulation.checkFlood(name, movesUntilMillis - now);
    }
    if (!isAccepting() || waitMillis > MAX_LOGIN_WAIT_MILLIS) {
      done.accept(false);
      return;
    }
    loginsUntilMillis = now + waitMillis + 1_000 / loginsPerSecond;
    world.after(loginsUntilMillis - now, () -> done.accept(isAccepting()));
  }

  boolean isAccepting() {
    return isUp && !isDraining && !isUnreachable;
  }

  /** Whether none of its sessions is as small as what some node lacks. */
  boolean areAllLargerThan(double lack) {
    return connections.stream().allMatch(each -> each.server.subscriptions() > Math.floor(lack));
  }

  int watchers() {
    return connections.stream().mapToInt(each -> each.server.subscriptions()).sum();
  }

  void ask(
      SimulatedConnection from, int id, int question, OptionalLong after, int key, boolean isNow) {
    if (failingUntil > world.nowMillis()) {
      fail(from, id, question);
      return;
    }
    if (after.isEmpty()) {
      answer(from, id, question, List.of(), visible, false);
      return;
    }
    long position = after.getAsLong();
    if (position < world.oracle.coversFrom() && position < visible) {
      answer(from, id, question, List.of(), visible, true);
      return;
    }
    Waiting asked = new Waiting(from, id, question, key, position, world.nowMillis());
    if (!answerIfAny(asked, isNow)) {
      waiting.add(asked);
    }
  }

  private boolean answerIfAny(Waiting asked, boolean isOver) {
    List<Long> commits = world.oracle.of(asked.key, asked.after, visible);
    if (commits.isEmpty() && !isOver) {
      return false;
    }
    boolean isMore = commits.size() > MAX_COMMITS;
    List<Long> first = isMore ? List.copyOf(commits.subList(0, MAX_COMMITS)) : commits;
    long position = isMore ? first.get(MAX_COMMITS - 1) : Math.max(asked.after, visible);
    answer(asked.from, asked.id, asked.question, first, position, false);
    return true;
  }

  /** Later, as it comes from another thread. */
  private void answer(
      SimulatedConnection to,
      int id,
      int question,
      List<Long> commits,
      long position,
      boolean lost) {
    world.after(
        world.random.nextInt(5),
        () -> {
          if (!to.isBroken) {
            to.server.answered(id, question, new ServerSession.Answer(commits, position, lost));
          }
        });
  }

  private void fail(SimulatedConnection to, int id, int question) {
    world.after(
        world.random.nextInt(5),
        () -> {
          if (!to.isBroken) {
            to.server.failed(id, question, "ORACLE_UNAVAILABLE", "not now", true);
          }
        });
  }

  void cancel(SimulatedConnection from, int id) {
    waiting.removeIf(each -> each.from == from && each.id == id);
  }

  void sees(long upTo) {
    if (isUp && upTo > visible) {
      visible = upTo;
      waiting.removeIf(each -> answerIfAny(each, false));
    }
  }

  /** Once in a second. */
  void tick() {
    if (!isUp) {
      return;
    }
    sees(world.oracle.last());
    waiting.removeIf(
        each -> world.nowMillis() - each.startedMillis >= WAIT_MILLIS && answerIfAny(each, true));
    for (SimulatedNode other : world.nodes) {
      if (other != this && !isUnreachable && !other.isUnreachable && world.random.nextInt(10) > 0) {
        int watchers = watchers();
        boolean draining = isDraining;
        world.after(
            world.random.nextInt(1_200),
            () ->
                other.balance.heard(name, watchers, draining, loginsPerSecond, world.nowMillis()));
      }
    }
    List<Balance.Session> newestFirst = new ArrayList<>();
    for (int i = connections.size() - 1; i >= 0; i--) {
      SimulatedConnection each = connections.get(i);
      newestFirst.add(new Balance.Session(each.number, each.server.subscriptions()));
    }
    for (Balance.Move move :
        balance.moves(ListedSessions.of(newestFirst), isDraining, world.nowMillis())) {
      world.moves++;
      connections.stream()
          .filter(each -> each.number == move.session())
          .forEach(each -> each.send(ServerMessage.move(move.target())));
    }
  }

  void kill() {
    isUp = false;
    isDraining = false;
    List.copyOf(connections).forEach(SimulatedConnection::breakUp);
    waiting.clear();
  }

  void restart() {
    isUp = true;
    loginsUntilMillis = 0;
    balance = world.mistake.balance();
    visible = Math.max(visible, world.oracle.last() - 2L * world.random.nextInt(3));
  }
}
