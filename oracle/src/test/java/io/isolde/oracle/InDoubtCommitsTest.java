// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.InDoubtCommits.Doubt;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class InDoubtCommitsTest {
  private static InDoubtCommits some() {
    TreeMap<Long, long[]> commits = new TreeMap<>();
    commits.put(200L, new long[] {2, 3});
    commits.put(100L, new long[] {1, 2});
    return InDoubtCommits.of(5, commits);
  }

  @Test
  void whenSeveralCommitsWriteAnIdThenTheOldestIsFound() {
    assertThat(some().find(new long[] {9, 3, 2}, 500)).contains(new Doubt(100, 2));
    assertThat(some().find(new long[] {3, 9}, 500)).contains(new Doubt(200, 3));
    assertThat(some().find(new long[] {9}, 500)).isEmpty();
    assertThat(some().find(new long[] {}, 500)).isEmpty();
  }

  @Test
  void whenACommitIsAboveTheSnapshotThenItIsNotInDoubt() {
    assertThat(some().find(new long[] {3}, 199)).isEmpty();
    assertThat(some().find(new long[] {3}, 200)).contains(new Doubt(200, 3));
    assertThat(some().find(new long[] {1, 2, 3}, 99)).isEmpty();
  }

  @Test
  void whenACommitComesOrGoesThenTheSetBeforeStaysAsItWas() {
    InDoubtCommits before = some();
    InDoubtCommits after = before.with(300, new long[] {4}, false).without(100, false);
    assertThat(after.epoch()).isEqualTo(7);
    assertThat(after.commits().keySet()).containsExactly(200L, 300L);
    assertThat(after.find(new long[] {2}, 500)).contains(new Doubt(200, 2));
    assertThat(before.commits().keySet()).containsExactly(100L, 200L);
    assertThat(before.find(new long[] {4}, 500)).isEmpty();
  }
}
