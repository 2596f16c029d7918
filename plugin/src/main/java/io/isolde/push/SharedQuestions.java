// SPDX-License-Identifier: Apache-2.0
package io.isolde.push;

import io.isolde.oracle.group.Changes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * Asks once for all who watch the same and stand at the same position. They get one answer, and so
 * stand at the same position again. There are never more questions than subscriptions. Thread-safe.
 */
final class SharedQuestions {
  /** Who waits for an answer. */
  interface Asker {
    /** Where he hears of it; those with the same one do so together. */
    Executor loop();

    /** On that loop, once for each question, unless he has left. */
    void heard(PushedAnswer answer, Throwable failure);
  }

  private record Key(Object subject, long after) {}

  private final Map<Key, Asked> asked = new ConcurrentHashMap<>();

  /** How many are under way. */
  int count() {
    return asked.size();
  }

  /**
   * Joins who ask the same at this moment, or is the first of them. Cheap.
   *
   * @param elsewhere where the first one asks: not on an event loop
   */
  Asked ask(
      PushedStatements.Question question,
      long after,
      long waitMillis,
      Asker asker,
      Executor elsewhere) {
    Key key = new Key(question.subject(), after);
    while (true) {
      Asked made = new Asked(key);
      Asked underWay = asked.putIfAbsent(key, made);
      Asked joined = underWay == null ? made : underWay;
      boolean isIn = joined.add(asker);
      if (underWay == null) {
        elsewhere.execute(() -> made.ask(question, waitMillis));
      }
      if (isIn) {
        return joined;
      }
      asked.remove(key, joined); // It is just being answered, or nobody waits for it any more.
    }
  }

  /** A question under way. */
  final class Asked {
    private final Key key;

    /** Guarded by this; null when it is over. */
    private Set<Asker> askers = Collections.newSetFromMap(new IdentityHashMap<>(2));

    private CompletableFuture<Changes.Notification> answer;

    private Asked(Key key) {
      this.key = key;
    }

    private synchronized boolean add(Asker asker) {
      if (askers != null) {
        askers.add(asker);
      }
      return askers != null;
    }

    private synchronized boolean isOver() {
      return askers == null;
    }

    private void ask(PushedStatements.Question question, long waitMillis) {
      if (isOver()) {
        return;
      }
      CompletableFuture<Changes.Notification> begun;
      try {
        begun = question.ask(OptionalLong.of(key.after), waitMillis);
      } catch (RuntimeException | Error e) {
        begun = CompletableFuture.failedFuture(e);
      }
      boolean isWanted;
      synchronized (this) {
        answer = begun;
        isWanted = askers != null;
      }
      if (!isWanted) {
        begun.cancel(false);
      }
      var unused = begun.whenComplete(this::answered);
    }

    /** Somebody waits no more. The last one ends the question. */
    void leave(Asker asker) {
      CompletableFuture<Changes.Notification> unwanted;
      synchronized (this) {
        if (askers == null || !askers.remove(asker) || !askers.isEmpty()) {
          return;
        }
        askers = null;
        unwanted = answer;
      }
      asked.remove(key, this);
      if (unwanted != null) {
        unwanted.cancel(false);
      }
    }

    private void answered(Changes.Notification notification, Throwable failure) {
      Set<Asker> waiting;
      synchronized (this) {
        waiting = askers;
        askers = null;
      }
      asked.remove(key, this);
      if (waiting == null) {
        return;
      }
      PushedAnswer shared = notification == null ? null : new PushedAnswer(notification);
      IdentityHashMap<Executor, List<Asker>> byLoop = new IdentityHashMap<>();
      waiting.forEach(
          asker -> byLoop.computeIfAbsent(asker.loop(), loop -> new ArrayList<>()).add(asker));
      byLoop.forEach((loop, askers) -> inform(loop, askers, shared, failure));
    }

    /** A fault of one connection is not to be one of the others. */
    private static void inform(List<Asker> askers, PushedAnswer answer, Throwable failure) {
      RuntimeException fault = null;
      for (Asker asker : askers) {
        try {
          asker.heard(answer, failure);
        } catch (RuntimeException e) {
          fault = e;
        }
      }
      if (fault != null) {
        throw fault;
      }
    }

    private static void inform(
        Executor loop, List<Asker> askers, PushedAnswer answer, Throwable failure) {
      try {
        loop.execute(() -> inform(askers, answer, failure));
      } catch (RejectedExecutionException e) {
        // The port is closed, and their connections with it.
      }
    }
  }
}
