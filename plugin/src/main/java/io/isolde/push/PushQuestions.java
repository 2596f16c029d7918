// SPDX-License-Identifier: Apache-2.0
package io.isolde.push;

import io.isolde.oracle.group.Changes;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
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

  /** A permission that was there is not looked up again for so long. */
  private static final long ALLOWED_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** Who hears of answers, on the event loop, unless the subscription is over. */
  interface Answers {
    void answered(int id, int question, PushedAnswer answer);

    void failed(int id, int question, Throwable failure);
  }

  /** A subscription, and the question for whose answer it waits. */
  private final class Subscribed implements SharedQuestions.Asker {
    private final int id;
    private final PushedStatements.Question question;
    private final WaitingQuestion waits = new WaitingQuestion();

    /** By {@link System#nanoTime}; nothing is known before the first look. */
    private volatile long allowedUntilNanos = System.nanoTime();

    /** Of the question that waits: there is one at a time. */
    private int number;

    private Subscribed(int id, PushedStatements.Question question) {
      this.id = id;
      this.question = question;
    }

    private boolean isAllowed() {
      return allowedUntilNanos - System.nanoTime() > 0;
    }

    @Override
    public Executor loop() {
      return loop;
    }

    @Override
    public void heard(PushedAnswer answer, Throwable failure) {
      PushQuestions.this.heard(this, number, answer, failure);
    }
  }

  private final PushThreads threads;
  private final ClientState client;
  private final SharedQuestions shared;
  private final Executor loop;
  private final Answers answers;
  private final Map<Integer, Subscribed> subscribed = new HashMap<>(4);

  /** That wait for a thread, also of subscriptions that are over. */
  private final AtomicInteger waiting = new AtomicInteger();

  /**
   * @param loop the event loop, which may have ended
   */
  PushQuestions(
      PushThreads threads,
      SharedQuestions shared,
      ClientState client,
      Executor loop,
      Answers answers) {
    this.threads = threads;
    this.shared = shared;
    this.client = client;
    this.loop = loop;
    this.answers = answers;
  }

  int waiting() {
    return waiting.get();
  }

  void begin(int id, PushedStatements.Question question) {
    subscribed.put(id, new Subscribed(id, question));
  }

  void end(int id) {
    Subscribed gone = subscribed.remove(id);
    if (gone != null) {
      gone.waits.end();
    }
  }

  /** Most questions are those of others, too, and then there is little to do. */
  void ask(int id, int question, OptionalLong after, boolean isFirst) {
    Subscribed asking = subscribed.get(id);
    asking.number = question;
    if (!isFirst && after.isPresent() && asking.isAllowed()) {
      join(asking, question, after.getAsLong(), this::elsewhere);
    } else {
      ask(asking, question, after, isFirst);
    }
  }

  private void join(Subscribed asking, int question, long after, Executor where) {
    SharedQuestions.Asked joined = shared.ask(asking.question, after, WAIT_MILLIS, asking, where);
    asking.waits.asked(question, () -> joined.leave(asking));
  }

  private void elsewhere(Runnable task) {
    if (!threads.ask(task)) {
      later(() -> elsewhere(task));
    }
  }

  private void later(Runnable task) {
    CompletableFuture.delayedExecutor(PAUSE_MILLIS, TimeUnit.MILLISECONDS, this::onLoop)
        .execute(task);
  }

  private void ask(Subscribed asking, int question, OptionalLong after, boolean isFirst) {
    if (asking.waits.isOver()) {
      return;
    }
    waiting.incrementAndGet();
    if (!threads.ask(() -> askNow(asking, question, after, isFirst))) {
      waiting.decrementAndGet();
      later(() -> ask(asking, question, after, isFirst));
    }
  }

  /** Not on the event loop. */
  private void askNow(Subscribed asking, int question, OptionalLong after, boolean isFirst) {
    waiting.decrementAndGet();
    if (asking.waits.isOver()) {
      return;
    }
    try {
      asking.question.requireAllowed(client);
      asking.allowedUntilNanos = System.nanoTime() + ALLOWED_NANOS;
      if (isFirst || after.isEmpty()) {
        askAlone(asking, question, after, isFirst);
      } else {
        join(asking, question, after.getAsLong(), Runnable::run);
      }
    } catch (RuntimeException | Error e) {
      onLoop(() -> heard(asking, question, null, e));
    }
  }

  private void askAlone(Subscribed asking, int question, OptionalLong after, boolean isFirst) {
    CompletableFuture<Changes.Notification> answer =
        asking.question.ask(after, isFirst ? 0 : WAIT_MILLIS);
    asking.waits.asked(question, () -> answer.cancel(false));
    var unused =
        answer.whenComplete(
            (notification, failure) ->
                onLoop(
                    () ->
                        heard(
                            asking,
                            question,
                            notification == null ? null : new PushedAnswer(notification),
                            failure)));
  }

  /** Nothing is to be done any more if the loop has ended. */
  private void onLoop(Runnable task) {
    try {
      loop.execute(task);
    } catch (RejectedExecutionException e) {
      // The port is closed, and this connection with it.
    }
  }

  private void heard(Subscribed asking, int question, PushedAnswer answer, Throwable failure) {
    if (asking.waits.isOver()) {
      return;
    }
    if (failure == null) {
      answers.answered(asking.id, question, answer);
    } else {
      subscribed.remove(asking.id);
      answers.failed(asking.id, question, failure);
    }
  }
}
