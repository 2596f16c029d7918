// SPDX-License-Identifier: Apache-2.0
package io.isolde.notification;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** A connection between a client and a node: in order in each direction, until it breaks. */
final class SimulatedConnection implements ServerSession.Output {
  private static final int MAX_QUEUED = 6;

  final int number;
  final int link;
  final SimulatedNode node;
  final SimulatedClient client;
  final ServerSession server;
  boolean isBroken;
  private final Simulation world;
  private final Map<Integer, Integer> keys = new HashMap<>();
  private final Deque<ServerMessage> queued = new ArrayDeque<>();
  private long lastToServer;
  private long lastToClient;

  SimulatedConnection(
      int number, int link, SimulatedNode node, SimulatedClient client, Simulation world) {
    this.number = number;
    this.link = link;
    this.node = node;
    this.client = client;
    this.world = world;
    this.server = world.mistake.server(this);
  }

  void toServer(Consumer<ServerSession> message) {
    lastToServer = Math.max(lastToServer + 1, world.nowMillis() + world.random.nextInt(40));
    world.after(
        lastToServer - world.nowMillis(),
        () -> {
          if (!isBroken) {
            message.accept(server);
          }
        });
  }

  void subscribe(int id, int key, OptionalLong after) {
    toServer(
        session -> {
          keys.put(id, key);
          session.subscribe(id, after);
        });
  }

  @Override
  public void ask(int id, int question, OptionalLong after, boolean isFirst) {
    int key = keys.get(id);
    world.after(
        world.random.nextInt(5),
        () -> {
          if (!isBroken) {
            node.ask(this, id, question, after, key, isFirst);
          }
        });
  }

  @Override
  public void cancel(int id) {
    node.cancel(this, id);
  }

  @Override
  public void send(ServerMessage message) {
    queued.add(message);
    if (queued.size() >= MAX_QUEUED) {
      server.pause();
    }
    boolean isAnyOrder = world.mistake == Mistake.REORDERS;
    long arrival = world.nowMillis() + world.random.nextInt(40);
    lastToClient = isAnyOrder ? arrival : Math.max(lastToClient + 1, arrival);
    world.after(lastToClient - world.nowMillis(), this::read);
  }

  /** A slow client reads later, but all in order. */
  private void read() {
    if (isBroken || queued.isEmpty()) {
      return;
    }
    if (client.stalledUntil > world.nowMillis()) {
      world.after(client.stalledUntil - world.nowMillis(), this::read);
      return;
    }
    boolean isLast = world.mistake == Mistake.REORDERS && world.random.nextBoolean();
    ServerMessage message = isLast ? queued.pollLast() : queued.poll();
    if (queued.size() == 1) {
      world.after(0, this::resume);
    }
    client.received(this, message);
  }

  private void resume() {
    if (!isBroken) {
      server.resume();
    }
  }

  /** Both ends notice it later, and what is under way is gone. */
  void breakUp() {
    if (isBroken) {
      return;
    }
    isBroken = true;
    server.close();
    node.connections.remove(this);
    world.after(world.random.nextInt(300), () -> client.broken(this));
  }
}
