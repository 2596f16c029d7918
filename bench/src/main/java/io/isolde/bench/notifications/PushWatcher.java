// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import io.isolde.notification.ClientMessage;
import io.isolde.notification.ClientSession;
import io.isolde.notification.ServerMessage;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** A session of pushed changes, as the clients have it. All but the interface is its loop's. */
final class PushWatcher extends LoopWatcher implements ClientSession.Output {
  /**
   * What many have in common.
   *
   * @param statement what they watch
   * @param addresses where they may connect
   * @param isMoving whether they go where a node asks them to go
   * @param notified hears of each notification, and puts it into the inbox
   */
  record Plan(
      String statement, List<String> addresses, boolean isMoving, Gate gate, Notified notified) {}

  /** A watcher was notified of a commit. */
  interface Notified {
    void of(Inbox inbox, long commit);
  }

  private static final int WATCH = 1;
  private static final long MAX_MOVE_MILLIS = 10_000;
  private static final long RETRY_MILLIS = 100;
  private static final int MAX_FAILURES = 10;

  private final Plan plan;
  private final ClientSession session = new ClientSession(this);
  private final Map<Integer, Channel> channels = new HashMap<>(4);
  private final Map<Integer, String> addresses = new HashMap<>(4);
  private int failures;
  private boolean isOver;

  PushWatcher(Plan plan, EventLoop loop) {
    super(loop);
    this.plan = plan;
  }

  @Override
  public void begin() {
    loop.execute(() -> session.watch(WATCH, OptionalLong.empty()));
  }

  @Override
  public void end() {
    loop.execute(
        () -> {
          isOver = true;
          session.unwatch(WATCH);
          look();
        });
  }

  /** Where it depends on, and whether anything is left. */
  private void look() {
    String found = "";
    for (int link : channels.keySet()) {
      if (session.isCurrent(link)) {
        found = addresses.get(link);
      }
    }
    isAt(found);
    isGone(isOver && channels.isEmpty());
  }

  @Override
  public void open(int link, String target) {
    String chosen = target == null ? any() : target;
    addresses.put(link, chosen);
    long pauseMillis = target == null ? RETRY_MILLIS * failures : 0;
    failures = Math.min(failures + 1, MAX_FAILURES);
    later(pauseMillis, () -> connect(link, chosen));
    later(MAX_MOVE_MILLIS, () -> session.expire(link));
  }

  private void later(long millis, Runnable action) {
    var unused = loop.schedule(action, millis, TimeUnit.MILLISECONDS);
  }

  /** Not where the last connection was, if there is another node. */
  private String any() {
    List<String> others = plan.addresses.stream().filter(each -> !each.equals(address())).toList();
    List<String> from = others.isEmpty() ? plan.addresses : others;
    return from.get(ThreadLocalRandom.current().nextInt(from.size()));
  }

  private void connect(int link, String chosen) {
    PushWire.connect(
        loop,
        chosen,
        plan.gate,
        new PushWire.Owner() {
          @Override
          public void opened(Channel channel) {
            channels.put(link, channel);
            session.opened(link);
            look();
          }

          @Override
          public void received(ServerMessage message) {
            PushWatcher.this.received(link, message);
          }

          @Override
          public void closed() {
            channels.remove(link);
            session.closed(link);
            addresses.remove(link);
            look();
          }
        });
  }

  private void received(int link, ServerMessage message) {
    if (message.type().equals(ServerMessage.MOVE) && !plan.isMoving) {
      return; // Who does not move stays.
    }
    failures = message.position() == null ? failures : 0;
    session.received(link, message);
    look();
  }

  @Override
  public void close(int link) {
    Channel channel = channels.get(link);
    if (channel != null) {
      // What comes of it must not come before this has returned.
      loop.execute(
          () -> {
            var unused = channel.close();
          });
    }
  }

  @Override
  public void subscribe(int link, int id, int watch, OptionalLong after) {
    PushWire.send(
        channels.get(link),
        ClientMessage.subscribe(
            id, plan.statement, null, after.isPresent() ? after.getAsLong() : null));
  }

  @Override
  public void unsubscribe(int link, int id) {
    Channel channel = channels.get(link);
    if (channel != null) {
      PushWire.send(channel, ClientMessage.unsubscribe(id));
    }
  }

  @Override
  public void retryLater(int link, int watch, int refusals) {
    later(RETRY_MILLIS * Math.min(refusals, MAX_FAILURES), () -> session.retry(link, watch));
  }

  @Override
  public void changed(int watch, List<Long> commits, long position) {
    inbox().startAfter(position);
    commits.forEach(commit -> plan.notified.of(inbox(), commit));
  }

  @Override
  public void lost(int watch, long position) {
    inbox().lossAnnounced();
  }

  @Override
  public void failed(int watch, String code, String message) {
    hasFailed(code + ": " + message);
  }
}
