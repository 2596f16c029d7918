// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.mail;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.bench.mail.SentMail.Found;
import io.isolde.bench.mail.SentMail.Verdict;
import java.util.List;
import org.junit.jupiter.api.Test;

class SentMailTest {
  private static final String ALICE = "alice@example.com";

  private final SentMail sent = new SentMail();

  private void send(String id, boolean isAnswered) {
    sent.add(new Letter(id, 1, ALICE, 2_000), isAnswered);
  }

  private static Found found(String id) {
    return new Found(ALICE, id);
  }

  @Test
  void whenAllThatWasAnsweredIsThereOnceThenNothingIsWrong() {
    send("a", true);
    send("b", true);

    assertThat(sent.compare(List.of(found("a"), found("b")), 0))
        .isEqualTo(new Verdict(2, 0, 0, 0, 0));
  }

  @Test
  void whenAnAnsweredMessageIsNotThereThenItIsLost() {
    send("a", true);
    send("b", true);

    assertThat(sent.compare(List.of(found("a")), 0).lost()).isEqualTo(1);
  }

  @Test
  void whenAMessageWithoutAnAnswerIsThereOrNotThenNothingIsWrong() {
    send("a", false);
    send("b", false);

    assertThat(sent.compare(List.of(found("a")), 0)).isEqualTo(Verdict.NOTHING);
  }

  @Test
  void whenAMessageIsThereThreeTimesThenTwoAreTooMany() {
    send("a", true);
    send("b", false);

    assertThat(
            sent.compare(List.of(found("a"), found("a"), found("a"), found("b"), found("b")), 0)
                .doubled())
        .isEqualTo(3);
  }

  @Test
  void whenAMessageIsInTheWrongInboxThenItIsInventedThereAndLostHere() {
    send("a", true);

    assertThat(sent.compare(List.of(new Found("bob@example.com", "a")), 0))
        .isEqualTo(new Verdict(1, 1, 0, 1, 0));
  }

  @Test
  void whenNobodyHasSentItThenItIsInvented() {
    assertThat(sent.compare(List.of(found("x")), 0).invented()).isEqualTo(1);
  }

  @Test
  void whenMailingsAreAddedUpThenEachMessageCounts() {
    send("a", true);
    SentMail all = new SentMail();
    all.add(new Letter("b", 1, ALICE, 4_000), true);
    all.addAll(sent);

    assertThat(all.answered()).isEqualTo(2);
    assertThat(all.meanBytes()).isEqualTo(3_000);
    assertThat(all.compare(List.of(found("a")), 0).lost()).isEqualTo(1);
  }

  @Test
  void whenTwoMessagesHaveOneIdThenTheBenchmarkIsWrong() {
    send("a", true);

    assertThatThrownBy(() -> send("a", true)).isInstanceOf(IllegalStateException.class);
  }
}
