// SPDX-License-Identifier: Apache-2.0
package io.isolde.client.routing;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.client.routing.Leaders.Range;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LeadersTest {
  private static final long SEED = Long.getLong("isolde.seed", System.nanoTime());
  private static final UUID GROUP = new UUID(1, 1);
  private static final UUID OTHER = new UUID(2, 2);

  private final Leaders<String> leaders = new Leaders<>();

  @Test
  void whenARangeIsKnownThenItsTokensAreAndNoOthers() {
    leaders.learn("k", new Range(GROUP, 10, 20), "a");
    assertThat(leaders.leader("k", 10)).isEmpty();
    assertThat(leaders.leader("k", 11)).contains("a");
    assertThat(leaders.leader("k", 20)).contains("a");
    assertThat(leaders.leader("k", 21)).isEmpty();
    assertThat(leaders.leader("other", 15)).isEmpty();
  }

  @Test
  void whenARangeGoesAroundTheRingThenBothEndsAreOfIt() {
    leaders.learn("k", new Range(GROUP, 20, 10), "a");
    for (long token : List.of(21L, Long.MAX_VALUE, Long.MIN_VALUE, 10L)) {
      assertThat(leaders.leader("k", token)).contains("a");
    }
    assertThat(leaders.leader("k", 15)).isEmpty();
    leaders.learn("all", new Range(GROUP, 5, 5), "a");
    assertThat(leaders.leader("all", 5)).contains("a");
    assertThat(leaders.leader("all", 6)).contains("a");
  }

  @Test
  void whenAGroupHasANewLeaderThenAllItsRangesHave() {
    leaders.learn("k", new Range(GROUP, 10, 20), "a");
    leaders.learn("k", new Range(OTHER, 20, 30), "a");
    leaders.learn("k", new Range(GROUP, 30, 40), "b");
    assertThat(leaders.leader("k", 15)).contains("b");
    assertThat(leaders.leader("k", 25)).contains("a");
    leaders.doubt("k", 15, "a"); // It is not about the leader of now.
    assertThat(leaders.leader("k", 35)).contains("b");
    leaders.doubt("k", 15, "b");
    assertThat(leaders.leader("k", 35)).isEmpty();
  }

  @Test
  void whenAKeyspaceIsMadeAgainWithOtherRangesThenTheOldOnesGo() {
    leaders.learn("k", new Range(GROUP, 10, 20), "a");
    leaders.learn("k", new Range(GROUP, 50, 60), "a");
    leaders.learn("k", new Range(OTHER, 15, 30), "b");
    assertThat(leaders.leader("k", 12)).isEmpty();
    assertThat(leaders.leader("k", 18)).contains("b");
    assertThat(leaders.leader("k", 55)).contains("a");
  }

  @Test
  void whenThereAreTooManyRangesThenItBeginsAnew() {
    for (int i = 0; i <= Leaders.MAX_RANGES; i++) {
      leaders.learn("k" + i % 7, new Range(GROUP, i, i + 1), "a");
    }
    assertThat(leaders.leader("k0", 1)).isEmpty();
    int last = Leaders.MAX_RANGES;
    assertThat(leaders.leader("k" + last % 7, last + 1)).contains("a");
  }

  /** Against a list of what was learned. */
  @Test
  void whenManyRangesAreLearnedThenTheNewestOfATokenCounts() {
    Random random = new Random(SEED);
    for (int run = 0; run < 300; run++) {
      Leaders<String> tested = new Leaders<>();
      List<Range> learned = new ArrayList<>();
      for (int step = 0; step < 20; step++) {
        long start = random.nextInt(24);
        long end = random.nextInt(24);
        Range range = new Range(new UUID(0, run * 100L + step), start, end);
        tested.learn("k", range, "of " + range.group());
        learned.removeIf(old -> tokens(old).stream().anyMatch(tokens(range)::contains));
        learned.add(range);
        for (long token = -1; token < 25; token++) {
          long at = token;
          Optional<String> expected =
              learned.stream()
                  .filter(known -> tokens(known).contains(at))
                  .map(known -> "of " + known.group())
                  .findFirst();
          assertThat(tested.leader("k", token))
              .as("seed %d, run %d", SEED, run)
              .isEqualTo(expected);
        }
      }
    }
  }

  /** Counted, where the class compares. */
  private static Set<Long> tokens(Range range) {
    Set<Long> tokens = new HashSet<>();
    long token = range.start();
    do {
      token = token == 30 ? -5 : token + 1;
      tokens.add(token);
    } while (token != range.end());
    return tokens;
  }

  @Test
  void whenAnAnswerHasAHintThenItIsUnderstood() {
    ByteBuffer group = ByteBuffer.allocate(32).putLong(1).putLong(1).putLong(-9).putLong(9).flip();
    Optional<HintedLeader> hint =
        HintedLeader.in(Map.of("isolde-leader", text("[fd00::1]:9042"), "isolde-group", group));
    assertThat(hint.orElseThrow().range()).isEqualTo(new Range(GROUP, -9, 9));
    assertThat(hint.get().address().getPort()).isEqualTo(9042);
    assertThat(group.remaining()).as("others read it, too").isEqualTo(32);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "10.0.0.1", "10.0.0.1:", "10.0.0.1:x", "10.0.0.1:99999999"})
  void whenAnAddressIsNotUnderstoodThenThereIsNoHint(String address) {
    assertThat(
            HintedLeader.in(
                Map.of("isolde-leader", text(address), "isolde-group", ByteBuffer.allocate(32))))
        .isEmpty();
  }

  @Test
  void whenTheGroupIsMissingOrOfAnotherVersionThenThereIsNoHint() {
    assertThat(HintedLeader.in(Map.of())).isEmpty();
    assertThat(HintedLeader.in(Map.of("isolde-leader", text("10.0.0.1:9042")))).isEmpty();
    assertThat(
            HintedLeader.in(
                Map.of(
                    "isolde-leader",
                    text("10.0.0.1:9042"),
                    "isolde-group",
                    ByteBuffer.allocate(31))))
        .isEmpty();
  }

  private static ByteBuffer text(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
  }
}
