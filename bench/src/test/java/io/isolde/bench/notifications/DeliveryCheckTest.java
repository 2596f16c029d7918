// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.bench.notifications.DeliveryCheck.Verdict;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DeliveryCheckTest {
  private static final CommitLog.Written THREE = new CommitLog.Written(List.of(10L, 20L, 30L), 0);

  private static Inbox.Heard heard(long start, long... ids) {
    return new Inbox.Heard(start, LongStream.of(ids).boxed().toList(), 0);
  }

  private static Verdict check(CommitLog.Written written, Inbox.Heard... watchers) {
    return DeliveryCheck.of(written, List.of(watchers));
  }

  @Test
  void whenAllWereToldOfAllThenItIsClean() {
    Verdict verdict = check(THREE, heard(5, 10, 20, 30), heard(10, 20, 30), heard(30));
    assertThat(verdict).isEqualTo(new Verdict(5, 0, 0, 0, 0, 0));
    assertThat(verdict.isClean()).isTrue();
  }

  @Test
  void whenOneIsMissingThenItIsLost() {
    Verdict verdict = check(THREE, heard(5, 10, 20, 30), heard(5, 10, 30));
    assertThat(verdict).isEqualTo(new Verdict(5, 1, 0, 0, 0, 0));
  }

  @Test
  void whenTheLastOnesAreMissingThenTheyAreLost() {
    assertThat(check(THREE, heard(5, 10)).lost()).isEqualTo(2);
  }

  @Test
  void whenAWatchHasNotBegunThenAllIsLost() {
    assertThat(check(THREE, heard(-1)).lost()).isEqualTo(3);
  }

  @Test
  void whenOneComesTwiceThenItIsDoubled() {
    Verdict verdict = check(THREE, heard(5, 10, 20, 20, 30));
    assertThat(verdict).isEqualTo(new Verdict(4, 0, 1, 0, 0, 0));
  }

  @Test
  void whenOneFromBeforeTheWatchComesThenItIsDoubled() {
    assertThat(check(THREE, heard(10, 10, 20, 30)).doubled()).isEqualTo(1);
  }

  @Test
  void whenOneComesAfterALaterOneThenItIsReordered() {
    Verdict verdict = check(THREE, heard(5, 20, 10, 30));
    assertThat(verdict).isEqualTo(new Verdict(3, 0, 0, 1, 0, 0));
  }

  @Test
  void whenNobodyWroteItThenItIsInvented() {
    Verdict verdict = check(THREE, heard(5, 10, 15, 20, 30));
    assertThat(verdict).isEqualTo(new Verdict(4, 0, 0, 0, 1, 0));
  }

  @Test
  void whenACommitHadNoAnswerThenNobodyNeedBeTold() {
    CommitLog.Written written = new CommitLog.Written(List.of(10L, 30L), 1);
    assertThat(check(written, heard(5, 10, 30)).isClean()).isTrue();
  }

  @Test
  void whenACommitHadNoAnswerAndOneWasToldThenAllHaveToBe() {
    CommitLog.Written written = new CommitLog.Written(List.of(10L, 30L), 1);
    Verdict verdict = check(written, heard(5, 10, 20, 30), heard(5, 10, 30));
    assertThat(verdict).isEqualTo(new Verdict(5, 1, 0, 0, 0, 0));
  }

  @Test
  void whenMoreWereToldThanHadNoAnswerThenTheOthersAreInvented() {
    CommitLog.Written written = new CommitLog.Written(List.of(10L), 1);
    assertThat(check(written, heard(5, 10, 20, 30)).invented()).isEqualTo(1);
  }

  @Test
  void whenALossWasAnnouncedThenItIsCountedAndNotForgiven() {
    Verdict verdict = check(THREE, new Inbox.Heard(5, List.of(10L, 30L), 1));
    assertThat(verdict).isEqualTo(new Verdict(2, 1, 0, 0, 0, 1));
  }

  @Test
  void whenSeveralAreCheckedThenTheyAreAddedUp() {
    Verdict sum =
        Stream.of(check(THREE, heard(5, 10, 20)), check(THREE, heard(5, 10, 10, 20, 30)))
            .reduce(Verdict.NOTHING, Verdict::and);
    assertThat(sum).isEqualTo(new Verdict(6, 1, 1, 0, 0, 0));
  }
}
