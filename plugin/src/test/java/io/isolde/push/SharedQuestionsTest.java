// SPDX-License-Identifier: Apache-2.0
package io.isolde.push;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.notification.ServerMessage;
import io.isolde.oracle.group.Changes;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.apache.cassandra.service.ClientState;
import org.junit.jupiter.api.Test;

class SharedQuestionsTest {
  private static final Changes.Notification CHANGED =
      new Changes.Notification(List.of(12L), 12, false);

  private final SharedQuestions shared = new SharedQuestions();
  private final List<Runnable> loop = new ArrayList<>();

  /** Is answered by the test. */
  private static final class Asking implements PushedStatements.Question {
    private final List<CompletableFuture<Changes.Notification>> answers = new ArrayList<>();

    @Override
    public Object subject() {
      return "rows";
    }

    @Override
    public void requireAllowed(ClientState client) {}

    @Override
    public CompletableFuture<Changes.Notification> ask(OptionalLong after, long waitMillis) {
      CompletableFuture<Changes.Notification> answer = new CompletableFuture<>();
      answers.add(answer);
      return answer;
    }
  }

  private final class Client implements SharedQuestions.Asker {
    private final List<PushedAnswer> answers = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();

    @Override
    public Executor loop() {
      return SharedQuestionsTest.this.executor;
    }

    @Override
    public void heard(PushedAnswer answer, Throwable failure) {
      if (failure == null) {
        answers.add(answer);
      } else {
        failures.add(failure);
      }
    }
  }

  private final Executor executor = loop::add;
  private final Asking question = new Asking();
  private final Client first = new Client();
  private final Client second = new Client();

  private SharedQuestions.Asked ask(long after, Client client) {
    return shared.ask(question, after, 1_000, client, Runnable::run);
  }

  private void run() {
    loop.forEach(Runnable::run);
    loop.clear();
  }

  @Test
  void whenManyAskTheSameThenItIsAskedOnceAndAllHearTogether() {
    var unused = ask(10, first);
    assertThat(ask(10, second)).isNotNull();
    assertThat(question.answers).hasSize(1);
    assertThat(ask(8, new Client())).isNotNull();
    assertThat(question.answers).as("another position is another question").hasSize(2);
    question.answers.get(0).complete(CHANGED);
    assertThat(loop).as("one task for all of a loop").hasSize(1);
    run();
    assertThat(first.answers).hasSize(1);
    assertThat(second.answers).isEqualTo(first.answers);
    ServerMessage message = ServerMessage.changes(1, List.of(12L), 12);
    PushedAnswer answer = first.answers.get(0);
    assertThat(answer.bytes(message)).isSameAs(answer.bytes(message));
    assertThat(new String(answer.bytes(ServerMessage.changes(2, List.of(12L), 12)), UTF_8))
        .contains("\"id\":2");
    assertThat(new String(answer.bytes(message), UTF_8)).contains("\"id\":1");
  }

  @Test
  void whenAnAnswerHasComeThenTheNextWhoAsksAsksAnew() {
    var before = ask(10, first);
    question.answers.get(0).complete(CHANGED);
    assertThat(ask(10, second)).isNotSameAs(before);
    assertThat(question.answers).hasSize(2);
    question.answers.get(1).complete(CHANGED);
    run();
    assertThat(first.answers).hasSize(1);
    assertThat(second.answers).hasSize(1);
    assertThat(shared.count()).isZero();
  }

  @Test
  void whenSomebodyLeavesThenHeHearsNothingAndTheLastEndsTheQuestion() {
    SharedQuestions.Asked asked = ask(10, first);
    assertThat(ask(10, second)).isSameAs(asked);
    asked.leave(first);
    assertThat(question.answers.get(0)).isNotCancelled();
    asked.leave(second);
    assertThat(question.answers.get(0)).isCancelled();
    assertThat(shared.count()).isZero();
    run();
    assertThat(first.answers).isEmpty();
    assertThat(second.failures).isEmpty();
    asked.leave(second);
    assertThat(ask(10, second)).isNotSameAs(asked);
  }

  @Test
  void whenTheFirstHasNotAskedYetThenOthersJoinAndIfAllLeaveNobodyAsks() {
    List<Runnable> elsewhere = new ArrayList<>();
    var asked = shared.ask(question, 10, 1_000, first, elsewhere::add);
    assertThat(shared.ask(question, 10, 1_000, second, elsewhere::add)).isSameAs(asked);
    assertThat(elsewhere).hasSize(1);
    asked.leave(first);
    asked.leave(second);
    elsewhere.get(0).run();
    assertThat(question.answers).isEmpty();
    assertThat(shared.count()).isZero();
  }

  @Test
  void whenItFailsThenAllHearOfThat() {
    var unused = ask(10, first);
    assertThat(ask(10, second)).isNotNull();
    question.answers.get(0).completeExceptionally(new IllegalStateException("as it is to"));
    run();
    assertThat(first.failures).hasSize(1);
    assertThat(second.failures).isEqualTo(first.failures);
    assertThat(shared.count()).isZero();
  }
}
