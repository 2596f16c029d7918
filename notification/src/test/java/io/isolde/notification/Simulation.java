// SPDX-License-Identifier: Apache-2.0
package io.isolde.notification;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.Random;

/**
 * Nodes that die, drain, restart and join, and clients that are slow, or whose connections break.
 * Then all is calm. Whatever a client hears is compared with the commits as it hears it.
 */
final class Simulation {
  private static final long FAULTS_MILLIS = 40_000;
  private static final long CALM_MILLIS = 40_000;
  private static final long BALANCED_MILLIS = 25_000;

  private static final long RECOVERED_MILLIS = 1_000;

  /** For somebody who has not moved when asked for the first time. */
  private static final int MAX_LATE_MOVES = 6;

  private static final int MAX_DELAY_MILLIS = 300;
  private static final int MANY_CLIENTS = 60;

  private record Event(long millis, long number, Runnable action) {}

  final Random random;
  final Mistake mistake;
  final SimulatedOracle oracle = new SimulatedOracle();
  final List<SimulatedNode> nodes = new ArrayList<>();
  private final List<SimulatedClient> clients = new ArrayList<>();
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparing(Event::millis).thenComparing(Event::number));
  private final int maxNodes;
  private long nowMillis;
  private long lastEvent;
  private int lastConnection;
  private int lastWatch = 100;
  int moves;
  int lost;

  Simulation(long seed, Mistake mistake) {
    this.random = new Random(seed);
    this.mistake = mistake;
    boolean areMany = random.nextInt(10) == 0;
    this.maxNodes = areMany ? 3 : 6;
    int count = 2 + random.nextInt(areMany ? 2 : 4);
    for (int i = 0; i < count; i++) {
      nodes.add(new SimulatedNode("node" + i, this));
    }
    int most = areMany ? MANY_CLIENTS : 5 + random.nextInt(15);
    for (int i = 0; i < most; i++) {
      clients.add(new SimulatedClient("client" + i, this));
    }
  }

  long nowMillis() {
    return nowMillis;
  }

  void after(long millis, Runnable action) {
    events.add(new Event(nowMillis + millis, ++lastEvent, action));
  }

  int nextConnection() {
    return ++lastConnection;
  }

  SimulatedNode anyNode() {
    return nodes.get(random.nextInt(nodes.size()));
  }

  SimulatedNode node(String name) {
    return nodes.stream().filter(node -> node.name.equals(name)).findFirst().orElseThrow();
  }

  void run() {
    every(50, FAULTS_MILLIS + CALM_MILLIS - 5_000, this::commit);
    every(1_000, FAULTS_MILLIS + CALM_MILLIS, () -> nodes.forEach(SimulatedNode::tick));
    every(700, FAULTS_MILLIS, this::fault);
    every(300, FAULTS_MILLIS, this::moveSomebody);
    for (SimulatedClient client : clients) {
      for (int watch = 0; watch <= random.nextInt(3); watch++) {
        int number = watch;
        after(random.nextInt(5_000), () -> watch(client, number));
      }
    }
    runUntil(FAULTS_MILLIS);
    nodes.forEach(this::heal);
    clients.forEach(client -> client.stalledUntil = 0);
    if (random.nextBoolean()) {
      SimulatedNode empty = anyNode(); // To which all others send its share.
      empty.kill();
      after(2_000, empty::restart);
    }
    runUntil(FAULTS_MILLIS + BALANCED_MILLIS);
    int before = moves;
    runUntil(FAULTS_MILLIS + CALM_MILLIS);
    clients.forEach(SimulatedClient::heardOfAll);
    assertThat(moves - before).as("storm: moves while all was calm").isLessThan(MAX_LATE_MOVES);
    assertThat(moves).as("storm: moves at all").isLessThan(40 * clients.size());
    assertBalanced();
  }

  private void assertBalanced() {
    double mean = nodes.stream().mapToInt(SimulatedNode::watchers).average().orElseThrow();
    int fewest = nodes.stream().mapToInt(SimulatedNode::watchers).min().orElseThrow();
    for (SimulatedNode node : nodes) {
      if (node.areAllLargerThan(mean - fewest)) {
        continue; // A session moves as a whole.
      }
      assertThat((double) node.watchers())
          .as("balance: watchers of %s", node.name)
          .isLessThanOrEqualTo(mean + Math.max(Balance.MIN_EXCESS, mean / 10) + largestSession());
    }
  }

  /** It moves as a whole, so it may be too large to move. */
  private int largestSession() {
    return nodes.stream()
        .flatMap(node -> node.connections.stream())
        .mapToInt(connection -> connection.server.subscriptions())
        .max()
        .orElse(0);
  }

  /** Whether no node drains any more, and nobody is on his way who was asked to move by one. */
  boolean isCalm() {
    return nowMillis > FAULTS_MILLIS + RECOVERED_MILLIS;
  }

  /** How long somebody waits who was asked to move to a node, by those who were asked before. */
  static void checkFlood(String node, long waitMillis) {
    assertThat(waitMillis)
        .as("flood: more move to %s than it can log in", node)
        .isLessThanOrEqualTo(SimulatedNode.MAX_LOGIN_WAIT_MILLIS);
  }

  private void every(int millis, long until, Runnable action) {
    if (nowMillis <= until) {
      action.run();
      after(1 + random.nextInt(2 * millis - 1), () -> every(millis, until, action));
    }
  }

  private void runUntil(long millis) {
    while (!events.isEmpty() && events.peek().millis <= millis) {
      Event event = events.poll();
      nowMillis = event.millis;
      event.action.run();
    }
    nowMillis = millis;
  }

  private void watch(SimulatedClient client, int number) {
    OptionalLong after =
        random.nextBoolean() ? OptionalLong.empty() : OptionalLong.of(oracle.last());
    client.watch(number, random.nextInt(SimulatedOracle.KEYS), after);
  }

  /** To anywhere, for no reason; and often somebody starts a watch at the same time. */
  private void moveSomebody() {
    SimulatedNode node = anyNode();
    if (node.connections.isEmpty()) {
      return;
    }
    SimulatedConnection moving = node.connections.get(random.nextInt(node.connections.size()));
    moving.send(ServerMessage.move(anyNode().name));
    if (random.nextInt(4) == 0) {
      int number = ++lastWatch;
      after(random.nextInt(200), () -> watch(moving.client, number));
      after(10_000, () -> moving.client.unwatch(number));
    }
  }

  private void commit() {
    long timestamp = oracle.commit(random.nextInt(SimulatedOracle.KEYS));
    for (SimulatedNode node : nodes) {
      after(random.nextInt(MAX_DELAY_MILLIS), () -> node.sees(timestamp));
    }
  }

  private void heal(SimulatedNode node) {
    node.isUnreachable = false;
    node.failingUntil = 0;
    if (node.isDraining) {
      node.kill();
    }
    if (!node.isUp) {
      node.restart();
    }
  }

  private void fault() {
    SimulatedNode node = anyNode();
    SimulatedClient client = clients.get(random.nextInt(clients.size()));
    switch (random.nextInt(9)) {
      case 0 -> {
        node.kill();
        after(random.nextInt(8_000), () -> heal(node));
      }
      case 1 -> {
        node.isDraining = node.isUp;
        after(3_000, () -> drained(node));
      }
      case 2 -> {
        node.isUnreachable = true;
        List.copyOf(node.connections).forEach(SimulatedConnection::breakUp);
        after(random.nextInt(5_000), () -> node.isUnreachable = false);
      }
      case 3 -> {
        if (nodes.size() < maxNodes) {
          nodes.add(new SimulatedNode("node" + nodes.size(), this));
        }
      }
      case 4 -> client.stalledUntil = nowMillis + random.nextInt(12_000);
      case 5 -> {
        client.session.pause(0);
        after(random.nextInt(6_000), () -> client.session.resume(0));
      }
      case 6 -> node.failingUntil = nowMillis + random.nextInt(3_000);
      default -> {
        if (!node.connections.isEmpty()) {
          node.connections.get(random.nextInt(node.connections.size())).breakUp();
        }
      }
    }
  }

  private void drained(SimulatedNode node) {
    if (node.isDraining) {
      node.kill();
      after(1_000, () -> heal(node));
    }
  }
}
