// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class NodePlacesTest {

  @Test
  void whenThereAreSeveralNodesThenTheirTokensAreEvenlySpaced() {
    assertThat(NodePlaces.tokens(1, 1)).containsExactly(List.of(Long.MIN_VALUE));
    assertThat(NodePlaces.tokens(3, 1))
        .containsExactly(
            List.of(Long.MIN_VALUE), List.of(-3074457345618258603L), List.of(3074457345618258602L));
    assertThat(NodePlaces.tokens(4, 1).get(3)).containsExactly(1L << 62);
  }

  @Test
  void whenNodesHaveSeveralTokensThenEachHasItsShareAndNeighboursDiffer() {
    List<List<Long>> tokens = NodePlaces.tokens(3, 16);
    assertThat(tokens).hasSize(3).allMatch(ofNode -> ofNode.size() == 16);
    SortedMap<Long, Integer> ring = new TreeMap<>();
    for (int node = 0; node < 3; node++) {
      for (long token : tokens.get(node)) {
        assertThat(ring.put(token, node)).as("another owner of %d", token).isNull();
      }
    }
    List<Integer> owners = List.copyOf(ring.values());
    Set<List<Integer>> neighbours = new HashSet<>();
    for (int i = 1; i < owners.size(); i++) {
      neighbours.add(owners.subList(i - 1, i + 1));
    }
    assertThat(neighbours).as("pairs of neighbours on the ring").hasSizeGreaterThan(6);
  }

  @Test
  void whenAddressesFollowEachOtherThenTheLastByteCountsUp() {
    assertThat(NodePlaces.address("127.0.0.1", 0)).isEqualTo("127.0.0.1");
    assertThat(NodePlaces.address("127.0.0.9", 2)).isEqualTo("127.0.0.11");
  }

  @Test
  void whenAddressesRunOutThenTheErrorSaysWhichNodeHasNone() {
    assertThatThrownBy(() -> NodePlaces.address("127.0.0.253", 2))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("node 3");
  }
}
