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
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.apache.cassandra.config.DatabaseDescriptor;
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
  record Figures(
      String node,
      String datacenter,
      int watchers,
      boolean isDraining,
      String address,
      boolean isTls,
      int loginsPerSecond) {
    private Known known(long ageMillis) {
      return new Known(node, datacenter, watchers, address, isTls, ageMillis);
    }
  }

  /** A node, as this one knows it. */
  public record Known(
      String node,
      String datacenter,
      int watchers,
      String address,
      boolean isTls,
      long ageMillis) {}

  /** A session, for operators. */
  public record Session(
      int number, String client, String user, int subscriptions, long position, long queuedBytes) {}

  /** A node that does not answer so often in a row is left out: its process may be dead. */
  private static final int MAX_SILENCES = 3;

  private record Heard(Figures figures, long millis) {}

  private final PushSettings settings;
  private final PushedStatements statements;
  private final Supplier<Optional<NodePort>> nodePort;
  private final Balance balance = new Balance();

  /** By node; guarded by this, as the balance is. */
  private final Map<String, Heard> others = new HashMap<>();

  /** How often in a row nodes have not answered; guarded by this. */
  private final Map<String, Integer> silences = new HashMap<>();

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
    } catch (IOException | RuntimeException | LinkageError e) {
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
    return new Figures(
        Ring.self(),
        DatabaseDescriptor.getLocalDataCenter(),
        watchers(),
        isDraining,
        address,
        PushPort.needsTls(),
        port.threads().loginsPerSecond());
  }

  private byte[] answer(byte[] question) {
    heard(question);
    return JsonMessages.bytes(own());
  }

  private synchronized void heard(byte[] message) {
    try {
      Figures figures = JsonMessages.read(message, Figures.class);
      others.put(figures.node, new Heard(figures, nowMillis()));
      silences.remove(figures.node);
      if (DatabaseDescriptor.getLocalDataCenter().equals(figures.datacenter)) {
        balance.heard(
            figures.node,
            figures.watchers,
            figures.isDraining,
            figures.loginsPerSecond,
            nowMillis());
      }
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
    silences.keySet().retainAll(living);
    for (String node : List.copyOf(others.keySet())) {
      if (!living.contains(node)) {
        forget(node);
      }
    }
  }

  private void forget(String node) {
    others.remove(node);
    balance.gone(node);
  }

  /** The ring notices only after some time that a process is dead. */
  private synchronized void silent(String node) {
    if (silences.merge(node, 1, Integer::sum) >= MAX_SILENCES) {
      forget(node);
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
              .exceptionally(
                  error -> {
                    silent(node);
                    return null;
                  });
    }
  }

  private synchronized void moveSome() {
    for (Balance.Move move : balance.moves(port, isDraining, nowMillis())) {
      port.move(move.session(), others.get(move.target()).figures.address);
      moves++;
    }
  }

  /**
   * Asks all clients to leave, and closes the port. For the time when the node drains. Nobody comes
   * meanwhile, and the others hear of it at once.
   */
  public void drain() {
    if (port == null || isDraining) {
      return;
    }
    isDraining = true;
    port.stopListening();
    thread.execute(this::tick);
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

  /** The nodes to which clients may come, as far as this one knows; none if it has no port. */
  public synchronized List<Known> nodes() {
    if (port == null) {
      return List.of();
    }
    List<Known> known = new ArrayList<>();
    if (!isDraining) {
      known.add(own().known(0));
    }
    others.values().stream()
        .filter(other -> !other.figures.isDraining)
        .forEach(other -> known.add(other.figures.known(nowMillis() - other.millis)));
    return known;
  }

  /** The sessions of this node. */
  public List<Session> sessions() {
    if (port == null) {
      return List.of();
    }
    List<Session> sessions = new ArrayList<>();
    try {
      List<Future<Session>> shown = port.shown();
      for (Future<Session> each : shown) {
        sessions.add(each.get(MAX_ANSWER_MILLIS, TimeUnit.MILLISECONDS));
      }
    } catch (RejectedExecutionException e) {
      return List.of(); // The port was closed meanwhile.
    } catch (ExecutionException | TimeoutException e) {
      logger.warn("Not all sessions of watchers can be shown now.", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return sessions;
  }
}
