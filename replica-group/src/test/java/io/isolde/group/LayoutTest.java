// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static io.isolde.group.Rings.node;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LayoutTest {
  @Test
  void whenAllNodesHaveEverythingThenThereIsOneGroup() {
    Layout layout =
        Layout.of(
            List.of(
                new Layout.Place(-10, node(1)),
                new Layout.Place(0, node(2)),
                new Layout.Place(10, node(3))),
            Rings.inOneRack(List.of(node(1), node(2), node(3)), 3),
            1);
    assertThat(layout.groups()).hasSize(1);
    assertThat(layout.groups().get(0).members()).containsExactly(node(1), node(2), node(3));
    assertThat(layout.spansOf(layout.groups().get(0))).containsExactly(new Layout.Span(10, 10));
  }

  @Test
  void whenItIsSplitThenRangesAreDealtAndNodesTakeTurnsAtTheBeginning() {
    Layout layout =
        Layout.of(
            List.of(
                new Layout.Place(-10, node(1)),
                new Layout.Place(0, node(2)),
                new Layout.Place(10, node(3))),
            Rings.inOneRack(List.of(node(1), node(2), node(3)), 3),
            3);
    assertThat(layout.groups()).hasSize(3);
    assertThat(layout.groups().stream().map(group -> group.members().get(0)))
        .containsExactlyInAnyOrder(node(1), node(2), node(3));
    assertThat(layout.groupOf(11)).isEqualTo(layout.groupOf(-10));
    assertThat(layout.groupOf(-9)).isEqualTo(layout.groupOf(0)).isNotEqualTo(layout.groupOf(1));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void whenARingIsAnyRingOfOneRackThenEveryTokenHasTheReplicasThatFollowIt(long seed) {
    Random random = new Random(seed);
    int nodes = 1 + random.nextInt(8);
    int replicas = 1 + random.nextInt(nodes);
    List<Layout.Member> members = IntStream.rangeClosed(1, nodes).mapToObj(Rings::node).toList();
    List<Layout.Place> ring = Rings.ring(members, 1 + random.nextInt(16), random);
    Layout layout = Layout.of(ring, Rings.inOneRack(members, replicas), 1 + random.nextInt(4));
    TreeMap<Long, Layout.Member> sorted = new TreeMap<>();
    ring.forEach(place -> sorted.put(place.token(), place.member()));
    for (int i = 0; i < 500; i++) {
      long token = i % 2 == 0 ? random.nextLong() : ring.get(random.nextInt(ring.size())).token();
      Set<Layout.Member> expected = new HashSet<>();
      List<Layout.Member> order = new ArrayList<>(sorted.tailMap(token, true).values());
      order.addAll(sorted.values());
      for (Layout.Member member : order) {
        if (expected.size() < replicas) {
          expected.add(member);
        }
      }
      Layout.Group group = layout.groupOf(token);
      assertThat(Set.copyOf(group.members())).as("seed %s", seed).isEqualTo(expected);
      assertThat(layout.spansOf(group)).anyMatch(span -> contains(span, token));
    }
    assertThat(Layout.parse(layout.toString())).isEqualTo(layout);
  }

  private static boolean contains(Layout.Span span, long token) {
    return span.start() < span.end()
        ? token > span.start() && token <= span.end()
        : token > span.start() || token <= span.end();
  }

  @Test
  void whenItIsSplitTooOftenOrTheTextIsWrongThenItIsRefused() {
    List<Layout.Place> ring = List.of(new Layout.Place(1, node(1)));
    Placement placement = Rings.inOneRack(List.of(node(1)), 1);
    assertThatThrownBy(() -> Layout.of(ring, placement, 65)).hasMessageContaining("1 to 64");
    assertThatThrownBy(() -> Layout.parse("nothing")).hasMessageContaining("no layout");
  }
}
