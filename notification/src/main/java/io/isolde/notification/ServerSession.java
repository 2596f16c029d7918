// SPDX-License-Identifier: Apache-2.0
package io.isolde.notification;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * A node's end of a session: one connection of a client, and what it has subscribed to. It asks the
 * same question again and again: which commits come after this position?
 *
 * <p>While the client does not read, it asks nothing, and drops the answers that still come. The
 * positions stay, so nothing is lost as long as the oracle knows what came after them.
 *
 * <p>Not thread-safe.
 */
public class ServerSession {
  /** Of one connection. */
  public static final int MAX_SUBSCRIPTIONS = 1_024;

  /** What it does. Nothing of it calls the session back before it returns. */
  public interface Output {
    /**
     * Asks what has changed; the answer comes with the same number.
     *
     * @param after empty for from now on
     * @param isFirst whether the answer is wanted at once, though there be nothing yet
     */
    void ask(int id, int question, OptionalLong after, boolean isFirst);

    /** The last question of a subscription needs no answer any more. */
    void cancel(int id);

    void send(ServerMessage message);
  }

  /**
   * An answer.
   *
   * @param position all up to here is reported
   */
  public record Answer(List<Long> commits, long position, boolean isLost) {}

  private static final class Subscription {
    /** All up to here is sent; -1 if that is not known yet. It never goes back. */
    private long position;

    /** The number of the last one; others are out of date. */
    private int question;

    private boolean isAsking;

    private Subscription(OptionalLong after) {
      position = after.orElse(-1);
    }
  }

  private final Output output;
  private final Map<Integer, Subscription> subscriptions = new HashMap<>(4);
  private boolean isPaused;
  private int lost;

  public ServerSession(Output output) {
    this.output = output;
  }

  public int subscriptions() {
    return subscriptions.size();
  }

  /** How often changes may have been lost. */
  public int lost() {
    return lost;
  }

  /** Up to where everything is sent; empty if there is no subscription with a position. */
  public OptionalLong position() {
    return subscriptions.values().stream()
        .mapToLong(each -> each.position)
        .filter(position -> position >= 0)
        .min();
  }

  /** Whether one more may come. */
  public boolean hasRoom() {
    return subscriptions.size() < MAX_SUBSCRIPTIONS;
  }

  public boolean has(int id) {
    return subscriptions.containsKey(id);
  }

  /** Begins a subscription, which {@link #has} not and {@link #hasRoom} for. */
  public void subscribe(int id, OptionalLong after) {
    Subscription made = new Subscription(after);
    subscriptions.put(id, made);
    ask(id, made, true);
  }

  public void unsubscribe(int id) {
    if (subscriptions.remove(id) != null) {
      output.cancel(id);
    }
  }

  private void ask(int id, Subscription subscription, boolean isFirst) {
    if (!isPaused) {
      subscription.isAsking = true;
      subscription.question++;
      output.ask(
          id,
          subscription.question,
          subscription.position < 0 ? OptionalLong.empty() : OptionalLong.of(subscription.position),
          isFirst);
    }
  }

  /** The answer to a question has come. */
  public void answered(int id, int question, Answer answer) {
    Subscription subscription = waiting(id, question);
    if (subscription == null || isPaused) {
      return; // If paused, it is asked again, after the same position.
    }
    send(id, answer);
    subscription.position = positionAfter(subscription.position, answer);
    ask(id, subscription, false);
  }

  private Subscription waiting(int id, int question) {
    Subscription subscription = subscriptions.get(id);
    if (subscription == null || subscription.question != question) {
      return null;
    }
    subscription.isAsking = false;
    return subscription;
  }

  long positionAfter(long before, Answer answer) {
    return Math.max(before, answer.position());
  }

  private void send(int id, Answer answer) {
    if (answer.isLost()) {
      lost++;
      output.send(ServerMessage.lost(id, answer.position()));
    } else if (answer.commits().isEmpty()) {
      output.send(ServerMessage.position(id, answer.position()));
    } else {
      output.send(ServerMessage.changes(id, answer.commits(), answer.position()));
    }
  }

  /** A question has failed, and with it the subscription. */
  public void failed(int id, int question, String code, String message, boolean isRetryable) {
    if (waiting(id, question) != null) {
      subscriptions.remove(id);
      output.send(ServerMessage.error(id, code, message, isRetryable));
    }
  }

  /** As much is queued for the client as may be. */
  public void pause() {
    isPaused = true;
  }

  /** The client has read on. */
  public void resume() {
    isPaused = false;
    for (Map.Entry<Integer, Subscription> each : List.copyOf(subscriptions.entrySet())) {
      if (!each.getValue().isAsking) {
        ask(each.getKey(), each.getValue(), true);
      }
    }
  }

  /** The connection is closed. */
  public void close() {
    List.copyOf(subscriptions.keySet()).forEach(this::unsubscribe);
  }
}
