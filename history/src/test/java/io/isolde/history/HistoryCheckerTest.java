// SPDX-License-Identifier: Apache-2.0
package io.isolde.history;

import static io.isolde.history.Histories.append;
import static io.isolde.history.Histories.list;
import static io.isolde.history.Histories.read;
import static io.isolde.history.Histories.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class HistoryCheckerTest {
  private final Histories history = new Histories();

  @Test
  void whenTransactionsFollowOneAnotherThenAllIsWell() {
    history
        .committed(append(1, 1), append(2, 2))
        .committed(list(1, 1), append(1, 3), list(1, 1, 3))
        .committed(list(1, 1, 3), list(2, 2));

    assertThat(history.withFinalReads()).isEmpty();
  }

  @Test
  void whenWritesAreInTwoOrdersThenItIsG0() {
    history
        .committed(append(1, 1), append(2, 2))
        .committed(append(1, 3), append(2, 4))
        .committed(list(1, 1, 3), list(2, 4, 2));

    assertThat(history.snapshot()).contains(Phenomenon.G0);
  }

  @Test
  void whenSomethingAbortedIsReadThenItIsG1a() {
    history.aborted(append(1, 1)).committed(list(1, 1));

    assertThat(history.snapshot()).containsExactly(Phenomenon.G1A);
  }

  @Test
  void whenTheMiddleOfATransactionIsReadThenItIsG1b() {
    history.committed(append(1, 1), append(1, 2)).committed(list(1, 1)).committed(list(1, 1, 2));

    assertThat(history.snapshot()).contains(Phenomenon.G1B);
  }

  @Test
  void whenTwoReadOfEachOtherThenItIsG1c() {
    history.committed(append(1, 1), list(2, 2)).committed(append(2, 2), list(1, 1));

    assertThat(history.snapshot()).containsExactly(Phenomenon.G1C);
  }

  @Test
  void whenHalfOfATransactionIsReadThenItIsGSingle() {
    history
        .committed(append(1, 1), append(2, 2))
        .committed(list(1, 1), list(2))
        .committed(list(2, 2));

    assertThat(history.snapshot()).containsExactly(Phenomenon.G_SINGLE);
  }

  @Test
  void whenReadersDisagreeAboutWhatCameFirstThenItIsALongFork() {
    history
        .committed(append(1, 1))
        .committed(append(2, 2))
        .committed(list(1, 1), list(2))
        .committed(list(1), list(2, 2));

    assertThat(history.snapshot()).containsExactly(Phenomenon.G_NONADJACENT);
  }

  @Test
  void whenTwoWriteWhatTheOtherReadThenItIsWriteSkewWhichSnapshotAllows() {
    history
        .committed(list(1), list(2), append(1, 1))
        .committed(list(1), list(2), append(2, 2))
        .committed(list(1, 1), list(2, 2));

    assertThat(history.serializable()).containsExactly(Phenomenon.G2_ITEM);
    assertThat(history.snapshot()).isEmpty();
  }

  @Test
  void whenTwoAppendToWhatBothReadThenAnUpdateIsLost() {
    history
        .committed(list(1), append(1, 1))
        .committed(list(1), append(1, 2))
        .committed(list(1, 1, 2));

    assertThat(history.snapshot()).containsExactly(Phenomenon.G_SINGLE);
  }

  @Test
  void whenListsDisagreeThenTheirOrderIsIncompatible() {
    history
        .committed(append(1, 1))
        .committed(append(1, 2))
        .committed(list(1, 1, 2))
        .committed(list(1, 2));

    assertThat(history.snapshot()).contains(Phenomenon.INCOMPATIBLE_ORDER);
  }

  @Test
  void whenATransactionDoesNotSeeItsOwnAppendThenItIsInternal() {
    history.committed(append(1, 1), list(1));

    assertThat(history.snapshot()).containsExactly(Phenomenon.INTERNAL);
  }

  @Test
  void whenARepeatedReadDiffersThenItIsInternal() {
    history.committed(append(1, 1)).committed(list(1), list(1, 1));

    assertThat(history.snapshot()).contains(Phenomenon.INTERNAL);
  }

  @Test
  void whenAValueComesFromNowhereThenItIsGarbage() {
    history.committed(list(1, 7));

    assertThat(history.snapshot()).containsExactly(Phenomenon.GARBAGE_READ);
  }

  @Test
  void whenAnAcknowledgedAppendIsNotThereInTheEndThenItIsLost() {
    history.committed(append(1, 1)).committed(append(1, 2)).committed(list(1, 2));

    assertThat(history.withFinalReads()).containsExactly(Phenomenon.LOST_WRITE);
    assertThat(history.serializable()).isEmpty();
  }

  @Test
  void whenAnUnknownOneIsNotThereInTheEndThenAllIsWell() {
    history.unknown(append(1, 1)).committed(append(1, 2)).committed(list(1, 2));

    assertThat(history.withFinalReads()).isEmpty();
  }

  @Test
  void whenAnUnknownOneWasSeenThenItCounts() {
    history
        .unknown(append(1, 1), append(2, 2))
        .committed(list(1, 1), list(2))
        .committed(list(2, 2));

    assertThat(history.snapshot()).containsExactly(Phenomenon.G_SINGLE);
  }

  @Test
  void whenAnOldStateIsReadAfterANewOneWasAcknowledgedThenItIsNotStrict() {
    history.committed(0, 10, append(1, 1)).committed(11, 20, list(1)).committed(30, 40, list(1, 1));

    assertThat(history.anomalies())
        .singleElement()
        .matches(Anomaly::isOnlyInRealTime)
        .extracting(Anomaly::phenomenon)
        .isEqualTo(Phenomenon.G_SINGLE);
  }

  @Test
  void whenAnOldStateIsReadWhileTheNewOneComesThenAllIsWell() {
    history.committed(0, 12, append(1, 1)).committed(11, 20, list(1)).committed(30, 40, list(1, 1));

    assertThat(history.serializable()).isEmpty();
  }

  @Test
  void whenTwoReplaceTheSameValueOfARegisterThenAnUpdateIsLost() {
    history
        .committed(read(1, null), write(1, 1))
        .committed(read(1, 1), write(1, 2))
        .committed(read(1, 1), write(1, 3))
        .committed(read(1, 3));

    assertThat(history.snapshot()).contains(Phenomenon.LOST_UPDATE);
  }

  @Test
  void whenRegistersShowWriteSkewThenItIsFound() {
    history
        .committed(read(1, null), read(2, null), write(1, 1))
        .committed(read(1, null), read(2, null), write(2, 2));

    assertThat(history.serializable()).containsExactly(Phenomenon.G2_ITEM);
  }

  @Test
  void whenHalfOfATransactionIsReadFromRegistersThenItIsGSingle() {
    history
        .committed(read(1, null), read(2, null), write(1, 1), write(2, 2))
        .committed(read(1, 1), read(2, null));

    assertThat(history.snapshot()).containsExactly(Phenomenon.G_SINGLE);
  }

  @Test
  void whenARegisterIsOnlyReadThenAllIsWell() {
    history.committed(read(1, null), read(2, null), write(2, 1)).committed(read(1, null));

    assertThat(history.snapshot()).isEmpty();
  }

  @Test
  void whenARegisterIsWrittenUnreadThenTheHistoryIsRefused() {
    history.committed(write(1, 1)).committed(read(1, 1));

    assertThatThrownBy(history::serializable)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("without having read it");
  }

  @Test
  void whenAValueIsWrittenTwiceThenTheHistoryIsRefused() {
    history.committed(append(1, 1)).committed(append(1, 1));

    assertThatThrownBy(history::serializable)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("twice");
  }

  @Test
  void whenAnAnomalyIsToldThenItNamesTheTransactionsAndWhy() {
    history
        .committed(append(1, 1), append(2, 2))
        .committed(list(1, 1), list(2))
        .committed(list(2, 2));

    assertThat(history.anomalies().get(0).toString())
        .contains("read skew", "T0 before T1, because the latter read 1 of key 1")
        .contains("T1 before T0, because the former did not see 2 of key 2")
        .contains("T1 COMMITTED: read(1) = [1] read(2) = []");
  }
}
