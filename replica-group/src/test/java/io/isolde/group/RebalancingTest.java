// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.group.Rebalancing.Move;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RebalancingTest {
  private static Layout.Member node(int number) {
    return new Layout.Member("n" + number, "127.0.0." + number + ":7000");
  }

  private static List<Layout.Member> nodes(int from, int to) {
    List<Layout.Member> nodes = new ArrayList<>();
    for (int number = from; number <= to; number++) {
      nodes.add(node(number));
    }
    return nodes;
  }

  private static Layout layout(int nodes, int replicas, int splits, Random random) {
    List<Layout.Place> ring = new ArrayList<>();
    for (int i = 0; i < 4 * nodes; i++) {
      ring.add(new Layout.Place(random.nextLong(), node(1 + i % nodes)));
    }
    return Layout.of(ring, replicas, splits);
  }

  private static long replicasOf(Layout layout, Layout.Member node) {
    return layout.groups().stream().filter(group -> group.members().contains(node)).count();
  }

  private static Layout after(Layout layout, List<Move> moves) {
    Layout now = layout;
    for (Move move : moves) {
      assertThat(now.groups().get(move.group()).members())
          .contains(move.from())
          .doesNotContain(move.to());
      now = now.withReplaced(move.group(), move.from(), move.to());
    }
    return now;
  }

  @Test
  void whenANodeIsAddedThenItGetsItsShareAndNothingElseMoves() {
    Layout layout = layout(3, 3, 4, new Random(1));
    List<Move> moves = Rebalancing.of(layout, nodes(1, 4));
    assertThat(moves).hasSize(3).allMatch(move -> move.to().equals(node(4)));
    assertThat(after(layout, moves).ranges()).isEqualTo(layout.ranges());
  }

  @Test
  void whenANodeMustGoThenItHasNothingLeft() {
    Layout layout = layout(4, 3, 1, new Random(2));
    List<Move> moves = Rebalancing.of(layout, nodes(2, 4));
    assertThat(moves).isNotEmpty();
    assertThat(replicasOf(after(layout, moves), node(1))).isZero();
  }

  @Test
  void whenTooFewNodesAreLeftThenItIsRefused() {
    Layout layout = layout(3, 3, 1, new Random(3));
    assertThatThrownBy(() -> Rebalancing.of(layout, nodes(1, 2)))
        .hasMessageContaining("as many nodes as replicas, not 2 for 3");
  }

  @ParameterizedTest
  @ValueSource(longs = {11, 12, 13, 14, 15, 16, 17, 18})
  void whenNodesComeAndGoThenAllHaveAboutEquallyManyAndASecondTimeNothingMoves(long seed) {
    Random random = new Random(seed);
    int before = 3 + random.nextInt(5);
    Layout layout = layout(before, 3, 1 + random.nextInt(4), random);
    List<Layout.Member> left = nodes(1 + random.nextInt(2), before + 1 + random.nextInt(4));
    Layout moved = after(layout, Rebalancing.of(layout, left));
    long most = left.stream().mapToLong(node -> replicasOf(moved, node)).max().orElseThrow();
    long least = left.stream().mapToLong(node -> replicasOf(moved, node)).min().orElseThrow();
    assertThat(most - least).as("seed %d", seed).isLessThanOrEqualTo(1);
    for (Layout.Group group : moved.groups()) {
      assertThat(group.members()).hasSize(3).isSubsetOf(left);
      assertThat(new HashSet<>(group.members())).hasSize(3);
    }
    assertThat(Rebalancing.of(moved, left)).isEmpty();
  }
}
