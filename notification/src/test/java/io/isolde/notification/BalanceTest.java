// SPDX-License-Identifier: Apache-2.0
package io.isolde.notification;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BalanceTest {
  private static final int LOGINS = 50;

  private final Balance balance = new Balance();
  private long nowMillis = 100_000;

  private static List<Balance.Session> sessions(int count) {
    List<Balance.Session> newestFirst = new ArrayList<>();
    IntStream.range(0, count).forEach(i -> newestFirst.add(0, new Balance.Session(i, 1)));
    return newestFirst;
  }

  private List<Balance.Move> moves(List<Balance.Session> sessions) {
    nowMillis += 1_000;
    return balance.moves(ListedSessions.of(sessions), false, nowMillis);
  }

  @Test
  void whenTheOthersHaveAsManyThenNobodyMoves() {
    balance.heard("b", 30, false, LOGINS, nowMillis);
    balance.heard("c", 27, false, LOGINS, nowMillis);
    assertThat(moves(sessions(31))).isEmpty();
  }

  @Test
  void whenThisNodeHasTooManyThenTheLastWhoCameMoveFirst() {
    balance.heard("b", 0, false, LOGINS, nowMillis);
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
      balance.heard("b", there, false, LOGINS, nowMillis);
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
    balance.heard("b", 60, false, LOGINS, nowMillis);
    balance.heard("c", 0, false, LOGINS, nowMillis);
    assertThat(moves(sessions(60))).hasSize(20).allMatch(move -> move.target().equals("c"));
  }

  @Test
  void whenANodeIsSilentOrDrainsThenNobodyMovesThere() {
    balance.heard("b", 0, false, LOGINS, nowMillis - Balance.MAX_AGE_MILLIS);
    balance.heard("c", 0, true, LOGINS, nowMillis);
    balance.heard("d", 0, false, LOGINS, nowMillis);
    balance.gone("d");
    assertThat(moves(sessions(100))).isEmpty();
  }

  @Test
  void whenThisNodeDrainsThenAllMove() {
    balance.heard("b", 500, false, LOGINS, nowMillis);
    balance.heard("c", 0, false, LOGINS, nowMillis);
    List<Balance.Session> sessions = sessions(3 * Balance.MAX_MOVES);
    sessions.add(new Balance.Session(-1, 0));
    List<Balance.Move> moves =
        new ArrayList<>(balance.moves(ListedSessions.of(sessions), true, nowMillis));
    nowMillis += 1_000;
    moves.addAll(balance.moves(ListedSessions.of(sessions), true, nowMillis));
    assertThat(moves).extracting(Balance.Move::session).hasSize(sessions.size());
    assertThat(moves).extracting(Balance.Move::session).doesNotHaveDuplicates();
    assertThat(moves.stream().filter(move -> move.target().equals("b")).count())
        .isBetween(sessions.size() / 2L - 1, sessions.size() / 2L + 1);
  }

  @Test
  void whenANodeHasNobodyThenItGetsOnlyAsManyAtOnceAsItCanLogIn() {
    balance.heard("b", 0, false, LOGINS, nowMillis);
    assertThat(moves(sessions(1_000))).hasSize(LOGINS);
    balance.heard("b", 0, false, 0, nowMillis);
    assertThat(moves(sessions(1_000))).as("as many are on their way as may be").isEmpty();
  }

  @Test
  void whenThoseWhoWereAskedAreThereThenAsManySetOut() {
    List<Balance.Session> sessions = sessions(1_000);
    balance.heard("b", 0, false, 20, nowMillis);
    List<Balance.Move> first = moves(sessions);
    assertThat(first).hasSize(20);
    sessions.removeIf(each -> each.number() >= 985); // Fifteen of them have gone.
    balance.heard("b", 15, false, 20, nowMillis);
    assertThat(moves(sessions)).hasSize(15);
  }

  /** A node that has just started, among three that log in a thousand in a second. */
  @Test
  void whenTenThousandAreOnTwoNodesThenTheThirdHasItsShareAfterSomeSeconds() {
    Balance other = new Balance();
    List<Balance.Session> here = sessions(5_000);
    List<Balance.Session> there = sessions(5_000);
    int seconds = 0;
    while (here.size() > 3_400) {
      int third = 10_000 - here.size() - there.size();
      for (Balance each : List.of(balance, other)) {
        each.heard("c", third, false, 1_000, nowMillis);
      }
      balance.heard("b", there.size(), false, 1_000, nowMillis);
      other.heard("a", here.size(), false, 1_000, nowMillis);
      nowMillis += 1_000;
      int before = here.size() + there.size();
      leave(balance, here);
      leave(other, there);
      assertThat(before - here.size() - there.size())
          .isLessThanOrEqualTo(Balance.MAX_MOVING_TO_ONE);
      assertThat(++seconds).isLessThan(10);
    }
    assertThat(there.size()).isBetween(3_100, 3_500);
  }

  private void leave(Balance balance, List<Balance.Session> sessions) {
    List<Balance.Move> moves = balance.moves(ListedSessions.of(sessions), false, nowMillis);
    assertThat(moves).allMatch(move -> move.target().equals("c"));
    Set<Integer> gone = moves.stream().map(Balance.Move::session).collect(Collectors.toSet());
    sessions.removeIf(each -> gone.contains(each.number()));
  }

  @Test
  void whenNobodyIsToMoveThenTheSessionsAreNotLookedAt() {
    balance.heard("b", 30, false, LOGINS, nowMillis);
    nowMillis += 1_000;
    ListedSessions sessions = ListedSessions.of(sessions(31));
    assertThat(balance.moves(sessions, false, nowMillis)).isEmpty();
    assertThat(sessions.looks()).isZero();
  }

  @Test
  void whenASessionHasNoWatchersThenItStays() {
    balance.heard("b", 0, false, LOGINS, nowMillis);
    List<Balance.Session> sessions = sessions(20);
    sessions.add(0, new Balance.Session(100, 0));
    assertThat(moves(sessions)).hasSize(10).noneMatch(move -> move.session() == 100);
  }

  @Test
  void whenASessionIsLargerThanWhatIsMissingThenASmallerOneMoves() {
    balance.heard("b", 10, false, LOGINS, nowMillis);
    List<Balance.Move> moves =
        moves(List.of(new Balance.Session(2, 100), new Balance.Session(1, 20)));
    assertThat(moves).extracting(Balance.Move::session).containsExactly(1);
  }

  @Test
  void whenASessionDoesNotMoveThenItIsAskedAgainLater() {
    balance.heard("b", 0, false, LOGINS, nowMillis);
    assertThat(moves(sessions(10))).hasSize(5);
    nowMillis += Balance.MAX_MOVE_MILLIS;
    balance.heard("b", 0, false, LOGINS, nowMillis);
    assertThat(moves(sessions(10)))
        .as("those first that were not asked yet")
        .extracting(Balance.Move::session)
        .containsExactly(4, 3, 2, 1, 0);
    nowMillis += Balance.MAX_MOVE_MILLIS;
    balance.heard("b", 0, false, LOGINS, nowMillis);
    assertThat(moves(sessions(10)))
        .extracting(Balance.Move::session)
        .containsExactly(9, 8, 7, 6, 5);
  }
}
