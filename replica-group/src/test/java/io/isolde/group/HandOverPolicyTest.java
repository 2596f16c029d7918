// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.group.HandOverPolicy.Choice;
import io.isolde.group.HandOverPolicy.Reason;
import io.isolde.group.HandOverPolicy.Rules;
import io.isolde.group.HandOverPolicy.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HandOverPolicyTest {
  private static final UUID GROUP = new UUID(1, 1);
  private static final long HEAVY = 100;
  private static final List<MemberLoad> FREE =
      List.of(follower("a", 0, 5), follower("b", 0, 1), follower("c", 50, 0));

  /** None is preferred. */
  private static final List<String> ANY = List.of();

  private static MemberLoad follower(String id, long busyBytes, long entriesBehind) {
    return new MemberLoad(
        id, new NodeLoad(busyBytes, CompactionPermit.State.IDLE, 0, false), entriesBehind);
  }

  private static HandOverPolicy policy(Choice choice) {
    return new HandOverPolicy(new Rules(choice, HEAVY, 10_000, 3, 0, false));
  }

  @Test
  void whenTheWorkIsSmallThenTheLeaderStays() {
    assertThat(policy(Choice.RANDOM).decide(0, GROUP, HEAVY - 1, FREE, ANY, 0).reason())
        .isEqualTo(Reason.SMALL);
  }

  @Test
  void whenOneIsFreeAndUpToDateThenItIsChosen() {
    List<MemberLoad> followers =
        List.of(
            follower("busy", HEAVY, 0),
            follower("behind", 0, HandOverPolicy.MAX_ENTRIES_BEHIND + 1),
            follower("free", 10, 3));
    for (Choice choice : Choice.values()) {
      assertThat(policy(choice).decide(0, GROUP, HEAVY, followers, ANY, 7))
          .isEqualTo(new Verdict(Reason.HAND_OVER, "free"));
    }
    assertThat(
            policy(Choice.RANDOM).decide(0, GROUP, HEAVY, followers.subList(0, 2), ANY, 0).reason())
        .isEqualTo(Reason.NOBODY_FREE);
  }

  @Test
  void whenOneIsAboutToWorkItselfThenAnotherIsChosenIfThereIsOne() {
    MemberLoad next =
        new MemberLoad("next", new NodeLoad(0, CompactionPermit.State.WAITING, 0, false), 0);
    for (Choice choice : Choice.values()) {
      assertThat(
              policy(choice)
                  .decide(0, GROUP, HEAVY, List.of(next, follower("free", HEAVY - 1, 9)), ANY, 0)
                  .to())
          .isEqualTo("free");
      assertThat(policy(choice).decide(0, GROUP, HEAVY, List.of(next), ANY, 0).to())
          .isEqualTo("next");
    }
  }

  /** Who is about to work itself would hand over again in a moment, wherever it is. */
  @Test
  void whenOneIsPreferredThenItIsChosenIfItCanLeadAsWell() {
    MemberLoad next =
        new MemberLoad("next", new NodeLoad(0, CompactionPermit.State.WAITING, 0, false), 0);
    List<MemberLoad> followers =
        List.of(next, follower("a", 0, 0), follower("busy", HEAVY, 0), follower("z", 50, 200));
    for (Choice choice : Choice.values()) {
      assertThat(policy(choice).decide(0, GROUP, HEAVY, followers, List.of("busy", "z"), 0).to())
          .isEqualTo("z");
    }
    assertThat(
            policy(Choice.LEAST_LOADED)
                .decide(0, GROUP, HEAVY, followers, List.of("busy", "next"), 0)
                .to())
        .isEqualTo("a");
  }

  @Test
  void whenTheyTakeTurnsThenTheNextInOrderComesAndAfterTheLastTheFirst() {
    HandOverPolicy policy = policy(Choice.ROUND_ROBIN);
    List<String> transferTargets = new ArrayList<>();
    for (long now = 0; now < 80_000; now += 20_000) {
      transferTargets.add(policy.decide(now, GROUP, HEAVY, FREE, ANY, 0).to());
    }
    assertThat(transferTargets).containsExactly("a", "b", "c", "a");
  }

  @Test
  void whenTheLeastLoadedIsAskedForThenWorkCountsBeforeLag() {
    assertThat(policy(Choice.LEAST_LOADED).decide(0, GROUP, HEAVY, FREE, ANY, 0).to())
        .isEqualTo("b");
  }

  @Test
  void whenItIsADryRunThenTheLeaderStaysAndSaysWhoItWouldHaveBeen() {
    HandOverPolicy policy =
        new HandOverPolicy(new Rules(Choice.LEAST_LOADED, HEAVY, 0, 3, 0, true));
    assertThat(policy.decide(0, GROUP, HEAVY, FREE, ANY, 0))
        .isEqualTo(new Verdict(Reason.DRY_RUN, "b"));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void whenThereIsAlwaysWorkThenNoGroupIsHandedOverTooSoonNorTooOftenInAll(long seed) {
    Random random = new Random(seed);
    HandOverPolicy policy =
        policy(List.of(Choice.values()).get(random.nextInt(Choice.values().length)));
    List<Long> times = new ArrayList<>();
    long[] last = {-10_000, -10_000, -10_000, -10_000, -10_000};
    long now = 0;
    for (int i = 0; i < 2_000; i++) {
      now += random.nextInt(2_000);
      int group = random.nextInt(5);
      Verdict verdict =
          policy.decide(now, new UUID(0, group), 2 * HEAVY, FREE, ANY, random.nextInt());
      if (verdict.reason() == Reason.HAND_OVER) {
        assertThat(now - last[group]).as("seed %s", seed).isGreaterThanOrEqualTo(10_000);
        last[group] = now;
        times.add(now);
      }
    }
    for (int i = 3; i < times.size(); i++) {
      assertThat(times.get(i) - times.get(i - 3))
          .as("seed %s", seed)
          .isGreaterThanOrEqualTo(60_000);
    }
    assertThat(times).hasSizeGreaterThan(20);
  }
}
