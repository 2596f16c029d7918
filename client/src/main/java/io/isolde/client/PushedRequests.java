// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.protocol.internal.util.Bytes;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A watch whose answers are pushed. They wait here until the watch asks for them. If too many wait,
 * the node is asked to stop, and to go on later after the last one.
 *
 * <p>Where nodes offer no port for it, each question is a request as before.
 */
final class PushedRequests implements WatchRequests, PushClient.Watcher {
  private static final int MAX_WAITING = 1_000;

  /** For so long it asks by itself when no node pushes anything. */
  private static final Duration WITHOUT_PUSH = Duration.ofSeconds(30);

  private static final String AFTER = " AFTER ? WITHIN ? MILLISECONDS";

  private final PushClients clients;
  private final WatchRequests.OfSession asked;

  /** Who has it may wait for the lock of a session. */
  private final Object pausing = new Object();

  /** This and all that follows is guarded by this. */
  private final Deque<Notification> waiting = new ArrayDeque<>();

  private CompletableFuture<Notification> asking;
  private List<String> bytes;

  /** Null until it is subscribed, and when that has failed. */
  private PushClients.Subscribed subscribed;

  private boolean isPaused;
  private boolean isClosed;
  private Throwable failure;

  /** Null, or when it heard that no node pushes anything. */
  private Long refusedNanos;

  PushedRequests(PushClients clients, WatchRequests.OfSession asked) {
    this.clients = clients;
    this.asked = asked;
  }

  @Override
  public CompletionStage<Notification> ask(OptionalLong after) {
    synchronized (this) {
      if (subscribed != null) {
        return next();
      }
      if (refusedNanos != null
          && clients.timing().since(refusedNanos).compareTo(WITHOUT_PUSH) < 0) {
        return asked.ask(after);
      }
    }
    return clients
        .nodes()
        .find()
        .thenCompose(places -> places.isEmpty() ? asked.ask(after) : subscribe(after));
  }

  private CompletionStage<Notification> subscribe(OptionalLong after) {
    return asked
        .session()
        .prepareAsync(asked.select() + AFTER)
        .thenCompose(prepared -> subscribe(bound(prepared), after));
  }

  /** The driver knows how values of the application become bytes. */
  private List<String> bound(PreparedStatement prepared) {
    int count = asked.values().size();
    List<Object> all = new ArrayList<>(asked.values());
    all.add(null);
    all.add(null);
    BoundStatement statement = prepared.bind(all.toArray());
    List<String> bound = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ByteBuffer value = statement.getBytesUnsafe(i);
      bound.add(value == null ? null : Base64.getEncoder().encodeToString(Bytes.getArray(value)));
    }
    return bound;
  }

  private CompletionStage<Notification> subscribe(List<String> bound, OptionalLong after) {
    synchronized (this) {
      bytes = bound;
      failure = null;
      waiting.clear();
      isPaused = false;
    }
    PushClients.Subscribed begun = clients.watch(this, after); // Not under this lock.
    synchronized (this) {
      subscribed = begun;
      if (isClosed) {
        later(begun::end);
      }
      return next();
    }
  }

  /** Called under the lock. */
  private CompletionStage<Notification> next() {
    Notification first = waiting.poll();
    if (first != null) {
      if (waiting.isEmpty() && isPaused) {
        isPaused = false;
        later(this::pauseOrResume);
      }
      return CompletableFuture.completedFuture(first);
    }
    if (failure != null) {
      subscribed = null; // The next question starts anew, if there is one.
      return CompletableFuture.failedFuture(failure);
    }
    asking = new CompletableFuture<>();
    return asking;
  }

  /** Both may be wanted shortly after each other; what is wanted last is done last. */
  private void pauseOrResume() {
    synchronized (pausing) {
      PushClients.Subscribed now;
      boolean isToPause;
      synchronized (this) {
        now = subscribed;
        isToPause = isPaused;
      }
      if (now != null && isToPause) {
        now.pause();
      } else if (now != null) {
        now.resume();
      }
    }
  }

  /** Not under the lock of this, since the session's lock comes first. */
  private static void later(Runnable action) {
    Watch.COMMON.execute(action);
  }

  @Override
  public String statement() {
    return asked.select();
  }

  @Override
  public synchronized List<String> bytes() {
    return bytes;
  }

  @Override
  public void changed(List<Long> commits, long position) {
    heard(new Notification(commits, position, false));
  }

  @Override
  public void lost(long position) {
    heard(new Notification(List.of(), position, true));
  }

  private void heard(Notification notification) {
    CompletableFuture<Notification> one;
    synchronized (this) {
      one = asking;
      asking = null;
      if (one == null) {
        waiting.add(notification);
        if (waiting.size() >= MAX_WAITING && !isPaused && subscribed != null) {
          isPaused = true;
          later(this::pauseOrResume);
        }
        return;
      }
    }
    later(() -> one.complete(notification)); // Not under the lock of a session.
  }

  @Override
  public void failed(Throwable error) {
    CompletableFuture<Notification> one;
    synchronized (this) {
      failure = error;
      if (error instanceof IsoldeException passing && passing.isRetryable()) {
        refusedNanos = clients.timing().nanoTime();
      }
      one = asking;
      asking = null;
      if (one != null) {
        subscribed = null;
      }
    }
    if (one != null) {
      later(() -> one.completeExceptionally(error));
    }
  }

  @Override
  public synchronized void close() {
    isClosed = true;
    if (subscribed != null) {
      later(subscribed::end);
    }
  }
}
