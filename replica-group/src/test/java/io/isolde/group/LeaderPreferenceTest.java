// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class LeaderPreferenceTest {
  private static final UUID GROUP = new UUID(1, 1);
  private static final long HEAVY = 100;
  private static final long LOOK = LeaderPreference.LOOK_MILLIS;

  private final LeaderPreference preference = new LeaderPreference(HEAVY);
  private long nowMillis = 1_000_000;
  private boolean isRefused;

  private static MemberLoad member(String id, long busyBytes, long entriesBehind) {
    return new MemberLoad(
        id, new NodeLoad(busyBytes, CompactionPermit.State.IDLE, 0, false), entriesBehind);
  }

  private static MemberLoad well(String id) {
    return member(id, 0, 0);
  }

  private Optional<String> look(long appliedIndex, MemberLoad... members) {
    nowMillis += LOOK;
    preference.startRound(Set.of(GROUP));
    Optional<String> chosen = preference.look(nowMillis, GROUP, appliedIndex, List.of(members));
    if (chosen.isPresent()) {
      preference.tried(nowMillis, GROUP, isRefused);
    }
    return chosen;
  }

  private Optional<String> looks(int times, MemberLoad... members) {
    Optional<String> chosen = Optional.empty();
    for (int i = 0; i < times && chosen.isEmpty(); i++) {
      chosen = look(10, members);
    }
    return chosen;
  }

  @Test
  void whenMembersAreWellForAWhileThenTheFirstOfThemTakesOver() {
    assertThat(looks(LeaderPreference.LOOKS - 1, well("b"), well("a"))).isEmpty();
    assertThat(look(10, well("b"), well("a"))).contains("b");
  }

  @Test
  void whenAMemberIsBusyOrBehindThenAnotherTakesOver() {
    MemberLoad waiting =
        new MemberLoad("waiting", new NodeLoad(0, CompactionPermit.State.WAITING, 0, false), 0);
    MemberLoad[] unfit = {
      member("busy", HEAVY, 0),
      member("behind", 0, HandOverPolicy.MAX_ENTRIES_BEHIND + 1),
      waiting,
      well("well")
    };
    assertThat(looks(LeaderPreference.LOOKS, unfit)).contains("well");
    assertThat(looks(20, unfit[0], unfit[1], unfit[2])).isEmpty();
  }

  /** As when an entry can't be applied there. */
  @Test
  void whenAMemberStandsStillBehindTheLeaderThenItDoesNotTakeOver() {
    assertThat(looks(20, member("stuck", 0, 1))).isEmpty();
    Optional<String> chosen = Optional.empty();
    for (int i = 0; i < LeaderPreference.LOOKS; i++) {
      chosen = look(100 + i, member("moving", 0, 1));
    }
    assertThat(chosen).contains("moving");
  }

  @Test
  void whenAMemberComesAndGoesThenItDoesNotTakeOver() {
    for (int i = 0; i < 20; i++) {
      assertThat(i % LeaderPreference.LOOKS == 0 ? look(10) : look(10, well("a"))).isEmpty();
    }
  }

  /** As when another has led meanwhile. */
  @Test
  void whenARoundWentByWithoutTheGroupThenWhatWasSeenCountsNoMore() {
    assertThat(looks(LeaderPreference.LOOKS - 1, well("a"))).isEmpty();
    preference.startRound(Set.of(GROUP));
    assertThat(look(10, well("a"))).isEmpty();
    assertThat(looks(LeaderPreference.LOOKS - 1, well("a"))).contains("a");
  }

  @Test
  void whenRoundsTakeLongThenWhatWasSeenStillCounts() {
    for (int i = 1; i < LeaderPreference.LOOKS; i++) {
      assertThat(look(10, well("a"))).isEmpty();
      nowMillis += 100 * LOOK;
    }
    assertThat(look(10, well("a"))).contains("a");
  }

  @Test
  void whenManyGroupsAreLookedAtInARoundThenEachMayBeHandedOver() {
    List<UUID> groups = LongStream.range(0, 50).mapToObj(i -> new UUID(2, i)).toList();
    for (int i = 1; i <= LeaderPreference.LOOKS; i++) {
      boolean isLast = i == LeaderPreference.LOOKS;
      preference.startRound(groups);
      for (UUID group : groups) {
        nowMillis += LOOK;
        assertThat(preference.look(nowMillis, group, 10, List.of(well("a"))).isPresent())
            .isEqualTo(isLast);
      }
    }
  }

  @Test
  void whenItIsRefusedThenItIsTriedAgainWithoutABackOff() {
    isRefused = true;
    long start = nowMillis;
    for (int i = 1; i <= 5; i++) {
      assertThat(looks(LeaderPreference.LOOKS, well("a"))).contains("a");
      assertThat(preference.triedMillis(GROUP)).isEqualTo(nowMillis);
    }
    assertThat(nowMillis - start).isEqualTo(5 * LeaderPreference.LOOKS * LOOK);
    isRefused = false;
    assertThat(looks(LeaderPreference.LOOKS, well("a"))).contains("a");
    long last = nowMillis;
    assertThat(looks(100, well("a"))).contains("a");
    assertThat(nowMillis - last).isEqualTo(LeaderPreference.FIRST_BACK_OFF_MILLIS);
  }

  @Test
  void whenTheGroupComesBackEachTimeThenItIsHandedOverLessAndLessOften() {
    List<Long> pauses = new ArrayList<>();
    long last = 0;
    while (pauses.size() < 12) {
      if (look(10, well("a")).isPresent()) {
        pauses.add(nowMillis - last);
        last = nowMillis;
      }
    }
    assertThat(pauses.subList(1, 4)).containsExactly(10_000L, 20_000L, 40_000L);
    assertThat(pauses.get(11)).isEqualTo(LeaderPreference.MAX_BACK_OFF_MILLIS);
    nowMillis += 3 * LeaderPreference.MAX_BACK_OFF_MILLIS;
    assertThat(looks(LeaderPreference.LOOKS, well("a"))).contains("a");
    last = nowMillis;
    assertThat(looks(100, well("a"))).contains("a");
    assertThat(nowMillis - last).isEqualTo(LeaderPreference.FIRST_BACK_OFF_MILLIS);
  }

  @Test
  void whenAGroupIsGoneThenNothingIsRemembered() {
    assertThat(looks(LeaderPreference.LOOKS, well("a"))).contains("a");
    preference.startRound(Set.of());
    assertThat(looks(LeaderPreference.LOOKS, well("a"))).contains("a");
  }
}
