// SPDX-License-Identifier: Apache-2.0
package io.isolde.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.group.Changes;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.service.ClientState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PushQuestionsTest {
  private static final int ID = 7;
  private static final int PATIENCE_SECONDS = 30;

  private final PushThreads threads = new PushThreads();
  private final SharedQuestions shared = new SharedQuestions();

  /** Of what is asked after 20. */
  private final CompletableFuture<Changes.Notification> second = new CompletableFuture<>();

  private final CompletableFuture<Boolean> isSecondAsked = new CompletableFuture<>();

  private final PushedStatements.Question statement =
      new PushedStatements.Question() {
        @Override
        public Object subject() {
          return "rows";
        }

        @Override
        public void requireAllowed(ClientState client) {}

        @Override
        public CompletableFuture<Changes.Notification> ask(OptionalLong after, long waitMillis) {
          if (after.getAsLong() == 20) {
            isSecondAsked.complete(true);
            return second;
          }
          return CompletableFuture.completedFuture(
              new Changes.Notification(List.of(20L), 20, false));
        }
      };

  /** Asks again as soon as there is an answer, as a connection does. */
  private final PushQuestions.Answers answers =
      new PushQuestions.Answers() {
        @Override
        public void answered(int id, int question, PushedAnswer answer) {
          questions().ask(id, question + 1, OptionalLong.of(20), false);
        }

        @Override
        public void failed(int id, int question, Throwable failure) {
          throw new AssertionError(failure);
        }
      };

  /** All that is to be done on the event loop is done at once. */
  private final PushQuestions questions =
      new PushQuestions(threads, shared, null, Runnable::run, answers);

  private PushQuestions questions() {
    return questions;
  }

  /** All threads meet here, so none is still busy with what came before. */
  private void awaitThreads() throws Exception {
    CyclicBarrier all = new CyclicBarrier(PushThreads.THREADS + 1);
    for (int i = 0; i < PushThreads.THREADS; i++) {
      assertThat(threads.ask(() -> await(all))).isTrue();
    }
    await(all);
  }

  private static void await(CyclicBarrier all) {
    try {
      var unused = all.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** The thread that asks is answered, and asks the next question, before it says that it asked. */
  @Test
  void whenAnAnswerIsThereAtOnceThenTheEndGivesUpTheQuestionAfterIt() throws Exception {
    questions.begin(ID, statement);
    questions.ask(ID, 1, OptionalLong.of(10), false);
    assertThat(isSecondAsked.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
    awaitThreads();
    assertThat(second).isNotDone();
    assertThat(shared.count()).isEqualTo(1);
    questions.end(ID);
    assertThat(second).isCancelled();
    assertThat(shared.count()).isZero();
  }

  @Test
  void whenItEndsBeforeAThreadHasAskedThenThatIsGivenUpAtOnce() {
    WaitingQuestion waits = new WaitingQuestion();
    waits.end();
    assertThat(waits.isOver()).isTrue();
    CompletableFuture<Void> asked = new CompletableFuture<>();
    waits.asked(1, () -> asked.cancel(false));
    assertThat(asked).isCancelled();
  }

  @AfterEach
  void close() {
    threads.close();
  }
}
