// SPDX-License-Identifier: Apache-2.0
package io.isolde.notification;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** A client of a simulated cluster; it compares what it hears with what was committed. */
final class SimulatedClient implements ClientSession.Output {
  private final Simulation world;
  private final String name;
  final ClientSession session;
  private final Map<Integer, SimulatedConnection> connections = new HashMap<>();

  /** By watch: its key, and up to where it has heard. */
  private final Map<Integer, Integer> keys = new HashMap<>();

  private final Map<Integer, Long> positions = new HashMap<>();
  long stalledUntil;

  SimulatedClient(String name, Simulation world) {
    this.name = name;
    this.world = world;
    this.session = world.mistake.client(this);
  }

  void watch(int number, int key, OptionalLong after) {
    keys.put(number, key);
    positions.put(number, after.orElse(-1));
    session.watch(number, after);
  }

  void unwatch(int number) {
    session.unwatch(number);
    positions.remove(number);
  }

  @Override
  public void open(int link, String address) {
    SimulatedNode node = address == null ? world.anyNode() : world.node(address);
    int delay = address == null ? 50 + world.random.nextInt(400) : world.random.nextInt(100);
    world.after(delay, () -> node.login(address != null, isIn -> loggedIn(link, node, isIn)));
    world.after(6_000, () -> session.expire(link));
  }

  private void loggedIn(int link, SimulatedNode node, boolean isIn) {
    if (!isIn) {
      session.closed(link);
      return;
    }
    SimulatedConnection made =
        new SimulatedConnection(world.nextConnection(), link, node, this, world);
    node.connections.add(made);
    connections.put(link, made);
    session.opened(link);
  }

  @Override
  public void close(int link) {
    SimulatedConnection gone = connections.remove(link);
    if (gone != null) {
      gone.toServer(
          server -> {
            gone.isBroken = true;
            server.close();
            gone.node.connections.remove(gone);
          });
    }
  }

  void broken(SimulatedConnection connection) {
    if (connections.remove(connection.link, connection)) {
      session.closed(connection.link);
    }
  }

  void received(SimulatedConnection from, ServerMessage message) {
    if (connections.get(from.link) == from) {
      session.received(from.link, message);
    }
  }

  @Override
  public void subscribe(int link, int id, int watch, OptionalLong after) {
    connections.get(link).subscribe(id, keys.get(watch), after);
  }

  @Override
  public void unsubscribe(int link, int id) {
    SimulatedConnection connection = connections.get(link);
    if (connection != null) {
      connection.toServer(server -> server.unsubscribe(id));
    }
  }

  @Override
  public void retryLater(int link, int watch, int refusals) {
    world.after(
        1 + world.random.nextInt(100 * Math.min(10, refusals)), () -> session.retry(link, watch));
  }

  @Override
  public void changed(int watch, List<Long> commits, long position) {
    long before = positions.put(watch, position);
    List<Long> expected =
        before < 0 ? List.of() : world.oracle.of(keys.get(watch), before, position);
    assertThat(commits)
        .as("%s, watch %d: commits from %d to %d", name, watch, before, position)
        .isEqualTo(expected);
    assertThat(position).as("%s, watch %d: position", name, watch).isGreaterThan(before);
  }

  @Override
  public void lost(int watch, long position) {
    long before = positions.put(watch, position);
    assertThat(before)
        .as("%s, watch %d: lost, though all is known", name, watch)
        .isLessThan(world.oracle.coversFrom());
    world.lost++;
  }

  @Override
  public void failed(int watch, String code, String message) {
    throw new AssertionError(name + " failed: " + message);
  }

  void heardOfAll() {
    positions.forEach(
        (watch, position) ->
            assertThat(world.oracle.of(keys.get(watch), position, world.oracle.last()))
                .as("%s, watch %d: not heard of at the end, after %d", name, watch, position)
                .isEmpty());
  }
}
