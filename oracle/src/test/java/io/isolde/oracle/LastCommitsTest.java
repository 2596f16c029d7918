// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class LastCommitsTest {

  /** The same with the collections of the JDK. */
  private static final class Model {
    private record Write(long id, long timestamp) {}

    final Map<Long, Long> lastCommit = new HashMap<>();
    private final Deque<Write> writes = new ArrayDeque<>();
    private final int maxRows;
    long tmax;

    Model(int maxRows) {
      this.maxRows = maxRows;
    }

    void put(long id, long timestamp) {
      if (Long.valueOf(timestamp).equals(lastCommit.put(id, timestamp))) {
        return;
      }
      writes.add(new Write(id, timestamp));
      if (writes.size() > maxRows) {
        Write oldest = writes.remove();
        if (lastCommit.remove(oldest.id, oldest.timestamp)) {
          tmax = oldest.timestamp;
        }
      }
    }
  }

  /** Few ids, so that they repeat; neighbours, multiples of the table's size, and extremes. */
  @Provide
  Arbitrary<Long> someIds() {
    return Arbitraries.oneOf(
        Arbitraries.longs().between(0, 20),
        Arbitraries.longs().between(0, 20).map(n -> n << 58),
        Arbitraries.of(Long.MIN_VALUE, Long.MAX_VALUE, -1L),
        Arbitraries.longs());
  }

  @Property(tries = 2000)
  void whateverIsWrittenThenTheTableAnswersAsTheModel(
      @ForAll @IntRange(min = 1, max = 40) int maxRows,
      @ForAll @IntRange(min = 1, max = 4) int writesPerCommit,
      @ForAll List<@From("someIds") Long> writes) {
    LastCommits table = new LastCommits(maxRows, 0);
    Model model = new Model(maxRows);
    for (int i = 0; i < writes.size(); i++) {
      long timestamp = 2L + 2L * (i / writesPerCommit);
      table.put(writes.get(i), timestamp);
      model.put(writes.get(i), timestamp);
      assertThat(table.rows()).isEqualTo(model.lastCommit.size());
      assertThat(table.tmax()).isEqualTo(model.tmax);
    }
    for (long id : writes) {
      assertThat(table.get(id)).isEqualTo(model.lastCommit.getOrDefault(id, LastCommits.NEVER));
    }
  }

  @Property
  void whateverIsForgottenThenTmaxCoversIt(
      @ForAll @IntRange(min = 1, max = 10) int maxRows,
      @ForAll List<@From("someIds") Long> writes) {
    LastCommits table = new LastCommits(maxRows, 0);
    Map<Long, Long> truth = new HashMap<>();
    for (int i = 0; i < writes.size(); i++) {
      table.put(writes.get(i), 2L + 2L * i);
      truth.put(writes.get(i), 2L + 2L * i);
    }
    truth.forEach(
        (id, timestamp) -> {
          if (table.get(id) == LastCommits.NEVER) {
            assertThat(table.tmax()).isGreaterThanOrEqualTo(timestamp);
          } else {
            assertThat(table.get(id)).isEqualTo(timestamp);
          }
        });
  }

  @Test
  void whenOneCommitWritesMoreThanFitsThenTmaxIsItsTimestamp() {
    LastCommits table = new LastCommits(2, 0);
    for (long id = 1; id <= 5; id++) {
      table.put(id, 10);
    }
    assertThat(table.tmax()).isEqualTo(10);
    assertThat(table.rows()).isEqualTo(2);
    assertThat(table.get(5)).isEqualTo(10);
  }

  @Test
  void whenARowIsWrittenAgainThenItsOldWriteFallsOutSilently() {
    LastCommits table = new LastCommits(2, 0);
    table.put(1, 2);
    table.put(1, 4);
    table.put(2, 6);
    assertThat(table.tmax()).isZero();
    assertThat(table.get(1)).isEqualTo(4);
  }
}
