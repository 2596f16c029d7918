// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.group.Layout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class GroupMemoryTest {
  private static final Layout.Member A = new Layout.Member("a", "10.0.0.1:7000");
  private static final Layout.Member B = new Layout.Member("b", "10.0.0.2:7000");
  private static final Layout.Member C = new Layout.Member("c", "10.0.0.3:7000");

  private static Layout layout(List<List<Layout.Member>> groups) {
    List<Layout.Group> made = new ArrayList<>();
    List<Layout.Range> ranges = new ArrayList<>();
    for (List<Layout.Member> members : groups) {
      ranges.add(new Layout.Range(made.size(), made.size()));
      made.add(new Layout.Group(made.size(), members));
    }
    return new Layout(made, ranges);
  }

  @Test
  void whenKeyspacesHaveGroupsThenThoseOfANodeAreCountedTogether() {
    Layout first = layout(List.of(List.of(A, B), List.of(B, C)));
    Layout second = layout(List.of(List.of(B), List.of(C)));
    assertThat(GroupMemory.largest(List.of(first, second))).contains(Map.entry(B, 3));
    assertThat(GroupMemory.largest(List.of())).isEmpty();
  }
}
