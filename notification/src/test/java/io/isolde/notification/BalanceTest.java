// SPDX-License-Identifier: Apache-2.0
package io.isolde.notification;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BalanceTest {
  private final Balance balance = new Balance();
  private long nowMillis = 100_000;

  private static List<Balance.Session> sessions(int count) {
    List<Balance.Session> newestFirst = new ArrayList<>();
    IntStream.range(0, count).forEach(i -> newestFirst.add(0, new Balance.Session(i, 1)));
    return newestFirst;
  }

  private List<Balance.Move> moves(List<Balance.Session> sessions) {
    nowMillis += 1_000;
    return balance.moves(sessions, false, nowMillis);
  }

  @Test
  void whenTheOthersHaveAsManyThenNobodyMoves() {
    balance.heard("b", 30, false, nowMillis);
    balance.heard("c", 27, false, nowMillis);
    assertThat(moves(sessions(31))).isEmpty();
  }

  @Test
  void whenThisNodeHasTooManyThenTheLastWhoCameMoveFirst() {
    balance.heard("b", 0, false, nowMillis);
    List<Balance.Move> moves = moves(sessions(20));
    assertThat(moves).hasSize(10);
    assertThat(moves).extracting(Balance.Move::session).startsWith(19, 18, 17);
    assertThat(moves(sessions(20))).as("those are on their way").isEmpty();
  }

  @Test
  void whenThousandsAreOnOneNodeThenTheyMoveInStepsAndNoneTwice() {
    List<Balance.Session> sessions = sessions(1_000);
    int there = 0;
    int seconds = 0;
    while (there < 490) {
      balance.heard("b", there, false, nowMillis);
      List<Balance.Move> moves = moves(sessions);
      assertThat(moves.size()).isLessThanOrEqualTo(Balance.MAX_MOVES);
      sessions.removeIf(each -> moves.stream().anyMatch(move -> move.session() == each.number()));
      there += moves.size();
      assertThat(++seconds).isLessThan(20);
    }
    assertThat(there).isBetween(490, 500);
  }

  @Test
  void whenTwoHaveTooManyThenEachTakesItsShare() {
    balance.heard("b", 60, false, nowMillis);
    balance.heard("c", 0, false, nowMillis);
    assertThat(moves(sessions(60))).hasSize(20).allMatch(move -> move.target().equals("c"));
  }

  @Test
  void whenANodeIsSilentOrDrainsThenNobodyMovesThere() {
    balance.heard("b", 0, false, nowMillis - Balance.MAX_AGE_MILLIS);
    balance.heard("c", 0, true, nowMillis);
    balance.heard("d", 0, false, nowMillis);
    balance.gone("d");
    assertThat(moves(sessions(100))).isEmpty();
  }

  @Test
  void whenThisNodeDrainsThenAllMove() {
    balance.heard("b", 500, false, nowMillis);
    balance.heard("c", 0, false, nowMillis);
    List<Balance.Session> sessions = sessions(3 * Balance.MAX_MOVES);
    sessions.add(new Balance.Session(-1, 0));
    List<Balance.Move> moves = new ArrayList<>(balance.moves(sessions, true, nowMillis));
    nowMillis += 1_000;
    moves.addAll(balance.moves(sessions, true, nowMillis));
    assertThat(moves).extracting(Balance.Move::session).hasSize(sessions.size());
    assertThat(moves).extracting(Balance.Move::session).doesNotHaveDuplicates();
    assertThat(moves.stream().filter(move -> move.target().equals("b")).count())
        .isBetween(sessions.size() / 2L - 1, sessions.size() / 2L + 1);
  }

  @Test
  void whenANodeHasNobodyThenItGetsOnlyAsManyAtOnceAsItCanLogIn() {
    balance.heard("b", 0, false, nowMillis);
    assertThat(moves(sessions(1_000))).hasSize(Balance.MAX_MOVES_TO_ONE);
  }

  @Test
  void whenASessionHasNoWatchersThenItStays() {
    balance.heard("b", 0, false, nowMillis);
    List<Balance.Session> sessions = sessions(20);
    sessions.add(0, new Balance.Session(100, 0));
    assertThat(moves(sessions)).hasSize(10).noneMatch(move -> move.session() == 100);
  }

  @Test
  void whenASessionIsLargerThanWhatIsMissingThenASmallerOneMoves() {
    balance.heard("b", 10, false, nowMillis);
    List<Balance.Move> moves =
        moves(List.of(new Balance.Session(2, 100), new Balance.Session(1, 20)));
    assertThat(moves).extracting(Balance.Move::session).containsExactly(1);
  }

  @Test
  void whenASessionDoesNotMoveThenItIsAskedAgainLater() {
    balance.heard("b", 0, false, nowMillis);
    assertThat(moves(sessions(10))).hasSize(5);
    nowMillis += Balance.MAX_MOVE_MILLIS;
    balance.heard("b", 0, false, nowMillis);
    assertThat(moves(sessions(10)))
        .as("those first that were not asked yet")
        .extracting(Balance.Move::session)
        .containsExactly(4, 3, 2, 1, 0);
    nowMillis += Balance.MAX_MOVE_MILLIS;
    balance.heard("b", 0, false, nowMillis);
    assertThat(moves(sessions(10)))
        .extracting(Balance.Move::session)
        .containsExactly(9, 8, 7, 6, 5);
  }
}
