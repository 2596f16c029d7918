// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.raft.Peer;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MemberSearchTest {
  private static final List<Peer> MEMBERS = List.of(peer("a"), peer("b"), peer("c"));
  private static final Peer STRANGER = peer("d");

  private final MemberSearch rounds = new MemberSearch();

  private static Peer peer(String id) {
    return new Peer(id, InetSocketAddress.createUnresolved(id, 1));
  }

  @Test
  void whenSomebodyIsSaidToLeadThenItIsAskedFirst() {
    assertThat(rounds.next(Optional.empty(), Optional.of(STRANGER), MEMBERS)).isEqualTo(STRANGER);
    assertThat(new MemberSearch().next(Optional.of(MEMBERS.get(1)), Optional.of(STRANGER), MEMBERS))
        .isEqualTo(MEMBERS.get(1));
  }

  @Test
  void whenWhatIsSaidIsOfNoUseThenAllMembersAreAskedAllTheSame() {
    for (Optional<Peer> known : List.of(Optional.<Peer>empty(), Optional.of(MEMBERS.get(0)))) {
      MemberSearch search = new MemberSearch();
      Set<Peer> asked = new HashSet<>();
      for (int i = 0; i < 24; i++) {
        asked.add(search.next(known, Optional.of(STRANGER), MEMBERS));
      }
      assertThat(asked).contains(STRANGER).containsAll(MEMBERS);
    }
  }

  @Test
  void whenTheNewLeaderIsNotReadyYetThenItIsAskedAgainAndNotTheOldOne() {
    Optional<Peer> known = Optional.of(MEMBERS.get(0));
    for (int i = 1; i < MemberSearch.PATIENCE; i++) {
      Optional<Peer> hinted = i % 3 == 0 ? Optional.empty() : known;
      assertThat(rounds.next(known, hinted, MEMBERS)).isEqualTo(MEMBERS.get(0));
    }
    assertThat(rounds.next(known, known, MEMBERS)).isNotEqualTo(MEMBERS.get(0));
  }

  @Test
  void whenNobodyLeadsThenThisNodeLooksForAWhileBetweenTwoThatAreAsked() {
    assertThat(rounds.isToLook(Optional.empty(), Optional.empty())).as("asks first").isFalse();
    for (int i = 0; i < 3; i++) {
      Peer asked = rounds.next(Optional.empty(), Optional.empty(), MEMBERS);
      assertThat(MEMBERS).contains(asked);
      for (int look = 0; look < MemberSearch.MAX_LOOKS; look++) {
        assertThat(rounds.isToLook(Optional.empty(), Optional.empty())).isTrue();
      }
      assertThat(rounds.isToLook(Optional.empty(), Optional.empty())).isFalse();
    }
    assertThat(rounds.isToLook(Optional.of(STRANGER), Optional.empty())).isFalse();
    assertThat(rounds.isToLook(Optional.empty(), Optional.of(STRANGER))).isFalse();
  }

  @Test
  void whenNothingIsSaidThenMembersAreAskedInTurn() {
    Set<Peer> asked = new HashSet<>();
    for (int i = 0; i < MEMBERS.size(); i++) {
      asked.add(rounds.next(Optional.empty(), Optional.empty(), MEMBERS));
    }
    assertThat(asked).containsExactlyInAnyOrderElementsOf(MEMBERS);
    assertThat(rounds.attempts()).isEqualTo(MEMBERS.size());
  }
}
