// SPDX-License-Identifier: Apache-2.0
package io.isolde.push;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import io.isolde.config.PushSettings;
import io.isolde.notification.Balance;
import io.isolde.peers.JsonMessages;
import io.isolde.peers.NodePort;
import io.isolde.peers.Peers;
import io.isolde.peers.Ring;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.apache.cassandra.utils.FBUtilities;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This node's part in pushing: its port, and what it and the others know of each other's watchers.
 * Each asks the others once in a second, if anybody has watchers, and decides who is to move.
 */
public final class PushNode {
  private static final Logger logger = LoggerFactory.getLogger(PushNode.class);

  private static final long TICK_MILLIS = 1_000;

  /** While nobody has watchers. */
  private static final int QUIET_TICKS = 10;

  private static final int KEEP_ALIVE_TICKS = 10;
  private static final long MAX_ANSWER_MILLIS = 2_000;

  /** For clients to leave before the node stops. */
  private static final long MAX_DRAIN_MILLIS = 4_000;

  /** What a node says of itself, as a question and as an answer. */
  record Figures(String node, int watchers, boolean isDraining, String address, boolean isTls) {}

  /** A node, as this one knows it. */
  public record Known(String node, int watchers, String address, boolean isTls, long ageMillis) {}

  /** A session, for operators. */
  public record Session(
      int number, String client, String user, int subscriptions, long position, long queuedBytes) {}

  private record Heard(Figures figures, long millis) {}

  private final PushSettings settings;
  private final PushedStatements statements;
  private final Supplier<Optional<NodePort>> nodePort;
  private final Balance balance = new Balance();

  /** By node; guarded by this, as the balance is. */
  private final Map<String, Heard> others = new HashMap<>();

  private final ScheduledThreadPoolExecutor thread;
  private volatile PushPort port;
  private volatile boolean isDraining;
  private Peers peers;
  private long ticks;
  private long moves;

  public PushNode(
      PushSettings settings, PushedStatements statements, Supplier<Optional<NodePort>> nodePort) {
    this.settings = settings;
    this.statements = statements;
    this.nodePort = nodePort;
    this.thread =
        new ScheduledThreadPoolExecutor(
            1,
            new ThreadFactoryBuilder()
                .setNameFormat("isolde-push-balance")
                .setDaemon(true)
                .build());
  }

  /** Opens the port, if there is to be one, once clients may come. */
  public void start() {
    if (!settings.isOn()) {
      return;
    }
    try {
      port = PushPort.open(settings, statements);
    } catch (IOException | RuntimeException e) {
      logger.error(
          "The port {} for pushing changes can't be opened. Clients of this node have to ask with"
              + " SELECT CHANGES, or go to another node.",
          settings.port(),
          e);
      return;
    }
    peers = new Peers(Ring.self(), Peers.Service.PUSH, nodePort, thread, this::answer);
    peers.serve();
    var unused = thread.scheduleWithFixedDelay(this::tick, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  private static long nowMillis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }

  private Figures own() {
    String host = FBUtilities.getJustBroadcastNativeAddress().getHostAddress();
    String address = (host.contains(":") ? "[" + host + "]" : host) + ":" + settings.port();
    return new Figures(Ring.self(), watchers(), isDraining, address, PushPort.needsTls());
  }

  private byte[] answer(byte[] question) {
    heard(question);
    return JsonMessages.bytes(own());
  }

  private synchronized void heard(byte[] message) {
    try {
      Figures figures = JsonMessages.read(message, Figures.class);
      others.put(figures.node, new Heard(figures, nowMillis()));
      balance.heard(figures.node, figures.watchers, figures.isDraining, nowMillis());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void tick() {
    try {
      ticks++;
      forgetDead();
      if (isDraining || hasWatchers() || ticks % QUIET_TICKS == 1) {
        ask();
      }
      moveSome();
      if (ticks % KEEP_ALIVE_TICKS == 0) {
        port.keepAlive();
      }
    } catch (RuntimeException e) {
      logger.warn("Sessions of watchers are not balanced now; trying again.", e);
    }
  }

  private synchronized void forgetDead() {
    Set<String> living = Ring.livingOfAll();
    for (String node : List.copyOf(others.keySet())) {
      if (!living.contains(node)) {
        others.remove(node);
        balance.gone(node);
      }
    }
  }

  private synchronized boolean hasWatchers() {
    return watchers() > 0 || others.values().stream().anyMatch(other -> other.figures.watchers > 0);
  }

  private void ask() {
    byte[] question = JsonMessages.bytes(own());
    Set<String> nodes = Ring.livingOfAll();
    nodes.remove(Ring.self());
    for (String node : nodes) {
      var unused =
          peers
              .ask(node, question)
              .orTimeout(MAX_ANSWER_MILLIS, TimeUnit.MILLISECONDS)
              .thenAccept(this::heard)
              .exceptionally(silent -> null); // What it has said before gets too old.
    }
  }

  private synchronized void moveSome() {
    List<Balance.Session> sessions = new ArrayList<>();
    for (PushConnection each : port.newestFirst()) {
      sessions.add(new Balance.Session(each.number(), each.watchers()));
    }
    for (Balance.Move move : balance.moves(sessions, isDraining, nowMillis())) {
      port.move(move.session(), others.get(move.target()).figures.address);
      moves++;
    }
  }

  /** Asks all clients to leave, and closes the port. For the time when the node drains. */
  public void drain() {
    if (port == null) {
      return;
    }
    isDraining = true;
    long end = nowMillis() + MAX_DRAIN_MILLIS;
    try {
      while (port.count() > 0 && nowMillis() < end) {
        Thread.sleep(TICK_MILLIS / 10);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    thread.shutdownNow();
    port.close();
  }

  /** Clients of the port. */
  public int connections() {
    return port == null ? 0 : port.count();
  }

  /** Their subscriptions. */
  public int watchers() {
    return port == null ? 0 : port.watchers();
  }

  /** How often a client has heard that there may have been changes which nobody knows any more. */
  public long lost() {
    return port == null ? 0 : port.lost();
  }

  /** How often a client was asked to move. */
  public synchronized long moves() {
    return moves;
  }

  /** This node and the others that offer a port, as far as this one knows; none if it does not. */
  public synchronized List<Known> nodes() {
    if (port == null) {
      return List.of();
    }
    List<Known> known = new ArrayList<>();
    Figures self = own();
    known.add(new Known(self.node, self.watchers, self.address, self.isTls, 0));
    others
        .values()
        .forEach(
            other ->
                known.add(
                    new Known(
                        other.figures.node,
                        other.figures.watchers,
                        other.figures.address,
                        other.figures.isTls,
                        nowMillis() - other.millis)));
    return known;
  }

  /** The sessions of this node. */
  public List<Session> sessions() {
    if (port == null) {
      return List.of();
    }
    List<Future<Session>> shown = port.newestFirst().stream().map(PushConnection::shown).toList();
    List<Session> sessions = new ArrayList<>();
    try {
      for (Future<Session> each : shown) {
        sessions.add(each.get(MAX_ANSWER_MILLIS, TimeUnit.MILLISECONDS));
      }
    } catch (ExecutionException | TimeoutException e) {
      logger.warn("Not all sessions of watchers can be shown now.", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return sessions;
  }
}
