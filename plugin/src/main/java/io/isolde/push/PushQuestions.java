// SPDX-License-Identifier: Apache-2.0
package io.isolde.push;

import io.isolde.oracle.group.Changes;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.cassandra.service.ClientState;

/**
 * The questions of a connection's subscriptions, and the answers for which they wait. All methods
 * belong to the connection's event loop, and other threads ask.
 */
final class PushQuestions {
  /** After it, the client hears that there is nothing, and its position goes on. */
  private static final long WAIT_MILLIS = 5_000;

  private static final long PAUSE_MILLIS = 100;

  /** Who hears of answers, on the event loop, unless the subscription is over. */
  interface Answers {
    void answered(int id, int question, Changes.Notification notification);

    void failed(int id, int question, Throwable failure);
  }

  /** A subscription's question, and the answer that it waits for. */
  private static final class Subscribed {
    private final PushedStatements.Question question;
    private volatile CompletableFuture<Changes.Notification> asked;
    private volatile boolean isOver;

    private Subscribed(PushedStatements.Question question) {
      this.question = question;
    }

    private void end() {
      isOver = true;
      CompletableFuture<Changes.Notification> last = asked;
      if (last != null) {
        last.cancel(false);
      }
    }
  }

  private final PushThreads threads;
  private final ClientState client;
  private final Executor loop;
  private final Answers answers;
  private final Map<Integer, Subscribed> subscribed = new HashMap<>(4);

  /** That wait for a thread, also of subscriptions that are over. */
  private final AtomicInteger waiting = new AtomicInteger();

  /**
   * @param loop runs what it is given on the event loop, or not at all if that has ended
   */
  PushQuestions(PushThreads threads, ClientState client, Executor loop, Answers answers) {
    this.threads = threads;
    this.client = client;
    this.loop = loop;
    this.answers = answers;
  }

  int waiting() {
    return waiting.get();
  }

  void begin(int id, PushedStatements.Question question) {
    subscribed.put(id, new Subscribed(question));
  }

  void end(int id) {
    Subscribed gone = subscribed.remove(id);
    if (gone != null) {
      gone.end();
    }
  }

  void ask(int id, int question, OptionalLong after, boolean isFirst) {
    ask(subscribed.get(id), id, question, after, isFirst);
  }

  private void ask(Subscribed asking, int id, int question, OptionalLong after, boolean isFirst) {
    if (asking.isOver) {
      return;
    }
    waiting.incrementAndGet();
    if (!threads.ask(() -> askNow(asking, id, question, after, isFirst))) {
      waiting.decrementAndGet();
      CompletableFuture.delayedExecutor(PAUSE_MILLIS, TimeUnit.MILLISECONDS, loop)
          .execute(() -> ask(asking, id, question, after, isFirst));
    }
  }

  /** Not on the event loop. */
  private void askNow(
      Subscribed asking, int id, int question, OptionalLong after, boolean isFirst) {
    waiting.decrementAndGet();
    if (asking.isOver) {
      return;
    }
    CompletableFuture<Changes.Notification> answer;
    try {
      answer = asking.question.ask(client, after, isFirst ? 0 : WAIT_MILLIS);
    } catch (RuntimeException | Error e) {
      answer = CompletableFuture.failedFuture(e);
    }
    asking.asked = answer;
    if (asking.isOver) {
      answer.cancel(false);
    }
    var unused =
        answer.whenComplete(
            (notification, failure) ->
                loop.execute(() -> answered(asking, id, question, notification, failure)));
  }

  private void answered(
      Subscribed asking,
      int id,
      int question,
      Changes.Notification notification,
      Throwable failure) {
    if (asking.isOver) {
      return;
    }
    if (failure == null) {
      answers.answered(id, question, notification);
    } else {
      subscribed.remove(id);
      answers.failed(id, question, failure);
    }
  }
}
