// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import io.isolde.notification.ClientMessage;
import io.isolde.notification.ClientSession;
import io.isolde.notification.ServerMessage;
import io.isolde.notification.ServerSession;
import java.net.http.WebSocketHandshakeException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** One session of pushed changes, with its connections: one, or two while it moves. */
final class PushClient implements ClientSession.Output {
  /** Of one session: what a node allows for one connection. */
  static final int MAX_WATCHES = ServerSession.MAX_SUBSCRIPTIONS;

  private static final Backoff PAUSES =
      new Backoff(
          Duration.ofMillis(100),
          Duration.ofSeconds(2),
          Integer.MAX_VALUE,
          Duration.ofSeconds(Long.MAX_VALUE / 4));

  private static final int MAX_FAILURES = 10;

  /** After so many connections in a row that came to nothing, its watchers ask by themselves. */
  static final int MAX_FAILED_OPENS = 8;

  private static final int UNAUTHORIZED = 401;
  private static final long MAX_MOVE_SECONDS = 10;
  private static final long LOOK_SECONDS = 5;

  /** Who hears of a watch. Nothing of it may wait, or call back. */
  interface Watcher {
    String statement();

    /** The values of its question marks, in Base64. */
    List<String> bytes();

    void changed(List<Long> commits, long position);

    void lost(long position);

    void failed(Throwable error);
  }

  private final PushOptions options;
  private final PushNodes nodes;
  private final Timing timing;

  /** This and all that follows is guarded by this. */
  private final ClientSession session = new ClientSession(this);

  private final Map<Integer, Watcher> watchers = new HashMap<>();
  private final Map<Integer, PushSocket> sockets = new HashMap<>();
  private int lastWatch;

  /** Connections since a node has last reported something. */
  private int failures;

  private boolean isTls;
  private boolean isLooking;

  /** Of those that are open or being opened: where they are. */
  private final Map<Integer, String> addresses = new HashMap<>();

  /** Where the last connection was that has failed, or ended. */
  private String lastAddress = "";

  PushClient(PushOptions options, PushNodes nodes, Timing timing) {
    this.options = options;
    this.nodes = nodes;
    this.timing = timing;
  }

  synchronized boolean hasRoom() {
    return watchers.size() < MAX_WATCHES;
  }

  /** Begins a watch, and returns its number. */
  synchronized int watch(Watcher watcher, OptionalLong after) {
    int number = ++lastWatch;
    watchers.put(number, watcher);
    session.watch(number, after);
    return number;
  }

  synchronized void unwatch(int number) {
    watchers.remove(number);
    session.unwatch(number);
  }

  synchronized void pause(int number) {
    session.pause(number);
  }

  synchronized void resume(int number) {
    session.resume(number);
  }

  @Override
  public void open(int link, String address) {
    if (!isLooking) {
      isLooking = true;
      lookLater();
    }
    timing(MAX_MOVE_SECONDS, () -> session.expire(link));
    if (address != null) {
      connect(link, new PushNodes.Place(address, isTls));
      return;
    }
    Duration pause = failures == 0 ? Duration.ZERO : pauseAfter(failures);
    failures = Math.min(failures + 1, MAX_FAILURES);
    var unused =
        CompletableFuture.supplyAsync(() -> null, timing.after(pause))
            .thenCompose(nothing -> nodes.find())
            .whenCompleteAsync( // The session must not hear of it before it has returned.
                (places, error) -> choose(link, places, error), Watch.COMMON);
  }

  private Duration pauseAfter(int count) {
    return PAUSES
        .pauseAfter(Math.min(count, MAX_FAILURES), Duration.ZERO, timing.jitter())
        .orElseThrow();
  }

  private void timing(long seconds, Runnable later) {
    var unused =
        CompletableFuture.runAsync(
            () -> {
              synchronized (this) {
                later.run();
              }
            },
            CompletableFuture.delayedExecutor(seconds, TimeUnit.SECONDS));
  }

  private void lookLater() {
    timing(
        LOOK_SECONDS,
        () -> {
          isLooking = session.watches() > 0;
          if (isLooking) {
            List.copyOf(sockets.values()).forEach(PushSocket::abortIfSilent);
            lookLater();
          }
        });
  }

  private synchronized void choose(int link, List<PushNodes.Place> places, Throwable error) {
    if (error != null || places.isEmpty()) {
      gone(link, error == null ? null : Stages.unwrapped(error));
      return;
    }
    List<PushNodes.Place> others =
        places.stream()
            .filter(place -> !place.address().equals(lastAddress))
            .filter(place -> !addresses.containsValue(place.address()))
            .toList();
    List<PushNodes.Place> from = others.isEmpty() ? places : others;
    PushNodes.Place place = from.get(ThreadLocalRandom.current().nextInt(from.size()));
    isTls = place.isTls();
    connect(link, place);
  }

  private void connect(int link, PushNodes.Place place) {
    addresses.put(link, place.address());
    var unused =
        Stages.of(
                () ->
                    PushSocket.open(
                        options, place, message -> received(link, message), () -> closed(link)))
            .whenCompleteAsync(
                (socket, error) -> {
                  if (error == null) {
                    opened(link, socket);
                  } else {
                    notOpened(link, Stages.unwrapped(error));
                  }
                },
                Watch.COMMON);
  }

  private synchronized void opened(int link, PushSocket socket) {
    sockets.put(link, socket);
    session.opened(link);
  }

  private synchronized void notOpened(int link, Throwable error) {
    boolean isRefused =
        error instanceof WebSocketHandshakeException refused
            && refused.getResponse().statusCode() == UNAUTHORIZED;
    gone(
        link,
        isRefused
            ? new IllegalStateException(
                "The node refuses the user or the password of PushOptions.", error)
            : error);
  }

  private synchronized void closed(int link) {
    gone(link, null);
  }

  /** A connection has ended, or could not be opened; null if nothing is known of the reason. */
  private void gone(int link, Throwable error) {
    String address = addresses.remove(link);
    lastAddress = address == null ? lastAddress : address;
    sockets.remove(link);
    if (session.isCurrent(link)) {
      if (error != null && DriverErrors.isFinal(error)) {
        failAll(error);
      } else if (failures >= MAX_FAILED_OPENS) {
        failAll(IsoldeException.ofPush("REQUEST_FAILED", true, "No node pushes changes.", error));
      }
    }
    session.closed(link);
  }

  /** Ends all watches. Each decides by itself what to do then. */
  private void failAll(Throwable error) {
    failures = 0;
    List<Watcher> all = List.copyOf(watchers.values());
    List.copyOf(watchers.keySet()).forEach(this::unwatch);
    all.forEach(watcher -> watcher.failed(error));
  }

  private synchronized void received(int link, ServerMessage message) {
    if (message.position() != null) {
      failures = 0;
    }
    session.received(link, message);
  }

  @Override
  public void close(int link) {
    String address = addresses.remove(link);
    lastAddress = address == null ? lastAddress : address;
    PushSocket socket = sockets.remove(link);
    if (socket != null) {
      socket.close();
    }
  }

  @Override
  public void subscribe(int link, int id, int watch, OptionalLong after) {
    Watcher watcher = watchers.get(watch);
    sockets
        .get(link)
        .send(
            ClientMessage.subscribe(
                id,
                watcher.statement(),
                watcher.bytes(),
                after.isPresent() ? after.getAsLong() : null));
  }

  @Override
  public void unsubscribe(int link, int id) {
    PushSocket socket = sockets.get(link);
    if (socket != null) {
      socket.send(ClientMessage.unsubscribe(id));
    }
  }

  @Override
  public void retryLater(int link, int watch, int refusals) {
    var unused =
        CompletableFuture.runAsync(() -> retry(link, watch), timing.after(pauseAfter(refusals)));
  }

  private synchronized void retry(int link, int watch) {
    session.retry(link, watch);
  }

  @Override
  public void changed(int watch, List<Long> commits, long position) {
    watchers.get(watch).changed(commits, position);
  }

  @Override
  public void lost(int watch, long position) {
    watchers.get(watch).lost(position);
  }

  @Override
  public void failed(int watch, String code, String message) {
    watchers.remove(watch).failed(IsoldeException.ofPush(code, false, message, null));
  }
}
