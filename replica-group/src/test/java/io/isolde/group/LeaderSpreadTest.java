// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.group.LeaderSpread.Led;
import io.isolde.group.LeaderSpread.Transfer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LeaderSpreadTest {
  private static Led led(int group, String leader, String... candidates) {
    return new Led(group, leader, List.of(candidates));
  }

  @Test
  void whenNodesLeadAboutEquallyManyThenNothingChanges() {
    assertThat(LeaderSpread.of(List.of(led(0, "a", "a", "b"), led(1, "b", "a", "b")))).isEmpty();
    assertThat(LeaderSpread.of(List.of(led(0, "a", "a", "b", "c")))).isEmpty();
  }

  @Test
  void whenANodeLeadsNothingThenTheBusiestGivesToIt() {
    assertThat(
            LeaderSpread.of(
                List.of(
                    led(0, "a", "a", "b", "new"),
                    led(1, "a", "a", "b", "new"),
                    led(2, "b", "a", "b", "new"))))
        .containsExactly(new Transfer(0, "new"));
  }

  @Test
  void whenTheBusiestSharesNoGroupWithTheIdlestThenThoseBetweenThemPassOneOn() {
    assertThat(
            LeaderSpread.of(
                List.of(
                    led(0, "a", "a", "b"),
                    led(1, "a", "a", "b"),
                    led(2, "b", "b", "c"),
                    led(3, "b", "b", "c"),
                    led(4, "a", "a", "b"),
                    led(5, "c", "c"))))
        .extracting(Transfer::to)
        .containsExactlyInAnyOrder("b", "c");
  }

  @Test
  void whenALeaderMayNotLeadThenAnotherDoesAndWhereNobodyMayNothingChanges() {
    assertThat(
            LeaderSpread.of(
                List.of(led(0, "leaving", "a", "b"), led(1, "a", "a", "b"), led(2, "leaving"))))
        .containsExactly(new Transfer(0, "b"));
  }

  /** Against all choices of leaders that there are. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void whenAnyGroupsAreSpreadThenNoChoiceIsMoreEqual(long seed) {
    Random random = new Random(seed);
    for (int round = 0; round < 100; round++) {
      List<Led> groups = randomGroups(random);
      List<Transfer> transfers = LeaderSpread.of(groups);
      List<String> after = new ArrayList<>(groups.stream().map(Led::leader).toList());
      for (Transfer transfer : transfers) {
        assertThat(groups.get(transfer.group()).candidates()).contains(transfer.to());
        assertThat(after.set(transfer.group(), transfer.to())).isNotEqualTo(transfer.to());
      }
      assertThat(squares(after))
          .as("seed %d, round %d: %s", seed, round, groups)
          .isEqualTo(least(groups, new ArrayList<>()));
      List<Led> spread =
          groups.stream()
              .map(led -> new Led(led.group(), after.get(led.group()), led.candidates()))
              .toList();
      assertThat(LeaderSpread.of(spread)).as("once more: %s", spread).isEmpty();
    }
  }

  private static List<Led> randomGroups(Random random) {
    List<String> nodes = IntStream.range(0, 2 + random.nextInt(4)).mapToObj(i -> "n" + i).toList();
    return IntStream.range(0, 1 + random.nextInt(6))
        .mapToObj(
            group -> {
              List<String> members = new ArrayList<>(nodes);
              Collections.shuffle(members, random);
              List<String> candidates =
                  members.subList(0, 1 + random.nextInt(Math.min(3, members.size())));
              return new Led(group, members.get(random.nextInt(members.size())), candidates);
            })
        .toList();
  }

  private static int least(List<Led> groups, List<String> chosen) {
    if (chosen.size() == groups.size()) {
      return squares(chosen);
    }
    int least = Integer.MAX_VALUE;
    for (String candidate : groups.get(chosen.size()).candidates()) {
      chosen.add(candidate);
      least = Math.min(least, least(groups, chosen));
      chosen.remove(chosen.size() - 1);
    }
    return least;
  }

  private static int squares(List<String> leaders) {
    Map<String, Integer> counts = new HashMap<>();
    leaders.forEach(leader -> counts.merge(leader, 1, Integer::sum));
    return counts.values().stream().mapToInt(count -> count * count).sum();
  }
}
