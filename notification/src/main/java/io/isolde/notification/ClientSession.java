// SPDX-License-Identifier: Apache-2.0
package io.isolde.notification;

import io.isolde.notification.ClientLink.Subscription;
import io.isolde.notification.ClientLink.Watched;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;

/**
 * A client's end of a session: what it has subscribed to, and up to where it has heard. It outlives
 * connections and nodes.
 *
 * <p>To move to another node it opens a second connection, and subscribes there after its
 * positions. It closes the first one when the second has answered for all. Meanwhile it hears from
 * both, and drops what is at or below its position.
 *
 * <p>Not thread-safe.
 */
public class ClientSession {
  /** What it does. Nothing of it calls the session back before it returns. */
  public interface Output {
    /**
     * Opens a connection.
     *
     * @param address null for any node, preferably another one than before
     */
    void open(int link, String address);

    void close(int link);

    /**
     * Subscribes.
     *
     * @param id of the subscription in messages, new each time
     * @param watch its number here
     */
    void subscribe(int link, int id, int watch, OptionalLong after);

    void unsubscribe(int link, int id);

    /**
     * Calls {@link ClientSession#retry} after a pause, which grows with the refusals.
     *
     * @param refusals in a row; at least 1
     */
    void retryLater(int link, int watch, int refusals);

    /** Commits that have changed what is watched; all up to the position is reported. */
    void changed(int watch, List<Long> commits, long position);

    void lost(int watch, long position);

    /** The watch has ended. */
    void failed(int watch, String code, String message);
  }

  /** A node that has refused a watch so often in a row is left for another one. */
  static final int MAX_REFUSALS = 3;

  private final Output output;
  private final Map<Integer, Watched> watches = new LinkedHashMap<>();
  private int lastLink;
  private int lastId;

  /** Null if there is nothing to watch. */
  private ClientLink current;

  /** That is to take its place; null if there is none. */
  private ClientLink next;

  public ClientSession(Output output) {
    this.output = output;
  }

  public int watches() {
    return watches.size();
  }

  /** Up to where a watch has heard of all; empty if it has ended, or heard nothing yet. */
  public OptionalLong position(int watch) {
    Watched watched = watches.get(watch);
    return watched == null ? OptionalLong.empty() : positionOf(watched);
  }

  private static OptionalLong positionOf(Watched watched) {
    return watched.position < 0 ? OptionalLong.empty() : OptionalLong.of(watched.position);
  }

  /** Begins a watch, by a number of the caller's. */
  public void watch(int number, OptionalLong after) {
    Watched watched = new Watched(number, after);
    watches.put(number, watched);
    if (current == null) {
      openCurrent();
    } else {
      subscribeEverywhere(watched);
    }
  }

  /** Ends a watch; the last one ends the connection. */
  public void unwatch(int number) {
    Watched watched = watches.remove(number);
    if (watched != null) {
      unsubscribeEverywhere(watched);
    }
    if (watches.isEmpty()) {
      closeAll();
    }
  }

  /** Its listener has enough to do. */
  public void pause(int number) {
    Watched watched = watches.get(number);
    if (watched != null && !watched.isPaused) {
      watched.isPaused = true;
      unsubscribeEverywhere(watched);
    }
  }

  /** Its listener can take more, after all that was handed out. */
  public void resume(int number) {
    Watched watched = watches.get(number);
    if (watched != null && watched.isPaused) {
      watched.isPaused = false;
      subscribeEverywhere(watched);
    }
  }

  private void closeAll() {
    closeIfThere(current);
    closeIfThere(next);
    current = null;
    next = null;
  }

  private void closeIfThere(ClientLink link) {
    if (link != null) {
      output.close(link.number);
    }
  }

  /** It is there before it is opened: it may end at once. */
  private void openCurrent() {
    current = new ClientLink(++lastLink);
    output.open(current.number, null);
  }

  private void openNext(String address) {
    next = new ClientLink(++lastLink);
    output.open(next.number, address);
  }

  private void subscribeEverywhere(Watched watched) {
    subscribe(current, watched);
    subscribe(next, watched);
  }

  /**
   * From now on means another moment at each node. So there is one node to say it, and the next one
   * is asked after its position.
   */
  private void subscribe(ClientLink link, Watched watched) {
    if (link == null || !link.isOpen || watched.isPaused) {
      return;
    }
    if (link == next && isToWait(watched)) {
      link.withoutPosition.add(watched);
      return;
    }
    int id = ++lastId;
    link.subscribed.put(id, new Subscription(watched));
    link.unanswered.add(watched);
    output.subscribe(link.number, id, watched.number, resumeAfter(watched));
  }

  boolean isWaitingForPosition(OptionalLong position) {
    return position.isEmpty();
  }

  private boolean isToWait(Watched watched) {
    return isWaitingForPosition(positionOf(watched));
  }

  private OptionalLong resumeAfter(Watched watched) {
    return resumeAfter(positionOf(watched));
  }

  OptionalLong resumeAfter(OptionalLong position) {
    return position;
  }

  private void unsubscribeEverywhere(Watched watched) {
    unsubscribe(current, watched);
    unsubscribe(next, watched);
    moveIfReady();
  }

  private void unsubscribe(ClientLink link, Watched watched) {
    if (link == null || !link.isOpen) {
      return;
    }
    link.forget(watched).forEach(id -> output.unsubscribe(link.number, id));
  }

  /** A connection is open. */
  public void opened(int number) {
    ClientLink link = link(number);
    if (link == null) {
      output.close(number); // It came too late.
      return;
    }
    link.isOpen = true;
    watches.values().forEach(watched -> subscribe(link, watched));
    moveIfReady();
  }

  private ClientLink link(int number) {
    if (current != null && current.number == number) {
      return current;
    }
    return next != null && next.number == number ? next : null;
  }

  /** A connection is closed, or could not be opened. */
  public void closed(int number) {
    ClientLink link = link(number);
    if (link == null) {
      return;
    }
    if (link == next) {
      next = null;
    } else if (next != null) {
      becomeCurrent();
    } else {
      openCurrent();
    }
  }

  private void becomeCurrent() {
    current = next;
    next = null;
    Set<Watched> waiting = Set.copyOf(current.withoutPosition);
    current.withoutPosition.clear();
    waiting.forEach(watched -> subscribe(current, watched));
  }

  private void moveIfReady() {
    if (next != null && next.isReady()) {
      int before = current.number;
      becomeCurrent();
      output.close(before);
    }
  }

  /** Whether the session depends on a connection. It does not on one to which it moves. */
  public boolean isCurrent(int number) {
    return current != null && current.number == number;
  }

  /** The node that was to take the session does not answer; it stays where it is. */
  public void expire(int number) {
    if (next != null && next.number == number) {
      output.close(number);
      next = null;
    }
  }

  /** A message has come from a node. */
  public void received(int number, ServerMessage message) {
    ClientLink link = link(number);
    if (link == null) {
      return;
    }
    if (message.type().equals(ServerMessage.MOVE)) {
      move(link, message.address());
      return;
    }
    Subscription subscription = message.id() == null ? null : link.subscribed.get(message.id());
    if (message.type().equals(ServerMessage.ERROR)) {
      failed(link, subscription, message);
    } else if (subscription != null) {
      hear(link, subscription, message);
    }
  }

  private void hear(ClientLink link, Subscription subscription, ServerMessage message) {
    Watched watched = subscription.watched;
    boolean isLost = message.type().equals(ServerMessage.LOST);
    if (isLost && watched.position > subscription.position) {
      unsubscribe(link, watched); // The other node was ahead, and this one may know what came next.
      subscribe(link, watched);
      return;
    }
    subscription.position = message.position();
    watched.failures = 0;
    link.unanswered.remove(watched);
    if (message.position() > watched.position) { // Or the other node was first.
      hand(watched, message, isLost);
    }
    if (next != null && watched.position >= 0 && next.withoutPosition.remove(watched)) {
      subscribe(next, watched);
    }
    moveIfReady();
  }

  private void move(ClientLink link, String address) {
    if (link == current && next == null) {
      openNext(address);
    }
  }

  private void hand(Watched watched, ServerMessage message, boolean isLost) {
    long before = watched.position;
    watched.position = message.position();
    if (isLost) {
      output.lost(watched.number, watched.position);
      return;
    }
    List<Long> commits = message.timestamps() == null ? List.of() : message.timestamps();
    List<Long> fresh = commits.stream().filter(commit -> isNew(commit, before)).toList();
    output.changed(watched.number, fresh, watched.position);
  }

  boolean isNew(long commit, long position) {
    return commit > position;
  }

  /** What a second node refuses is no reason to leave the first. */
  private void failed(ClientLink link, Subscription subscription, ServerMessage message) {
    if (subscription == null) {
      return; // It was ended here meanwhile.
    }
    Watched watched = subscription.watched;
    if (link == next) {
      expire(link.number);
    } else if (Boolean.TRUE.equals(message.retryable())) {
      link.subscribed.remove(message.id());
      refused(link, watched);
    } else {
      watches.remove(watched.number);
      unsubscribeEverywhere(watched);
      output.failed(watched.number, message.code(), message.message());
      if (watches.isEmpty()) {
        closeAll();
      }
    }
  }

  /** The others of the connection go on. One node must say where it starts. */
  private void refused(ClientLink link, Watched watched) {
    watched.failures++;
    boolean isTooOften = watched.failures % MAX_REFUSALS == 0;
    if (isTooOften && isToWait(watched)) {
      output.close(link.number);
      closed(link.number);
      return;
    }
    link.refused.add(watched);
    output.retryLater(link.number, watched.number, watched.failures);
    if (isTooOften && next == null) {
      openNext(null);
    }
  }

  /** The pause is over after which a watch is subscribed again. */
  public void retry(int number, int watch) {
    ClientLink link = link(number);
    Watched watched = watches.get(watch);
    if (link != null && watched != null && link.refused.remove(watched)) {
      subscribe(link, watched);
    }
  }
}
