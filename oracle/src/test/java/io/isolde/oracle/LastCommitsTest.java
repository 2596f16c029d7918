// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static io.isolde.oracle.LastCommits.NEVER;
import static io.isolde.oracle.LastCommits.SLOTS_PER_BUCKET;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class LastCommitsTest {
  private static final long FIRST = 100;

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
  void whateverIsWrittenThenWhatIsFoundIsExactAndTheRestIsBounded(
      @ForAll @IntRange(min = 1, max = 60) int maxRows,
      @ForAll @IntRange(min = 1, max = 10) int writesPerCommit,
      @ForAll List<@From("someIds") Long> writes,
      @ForAll List<@From("someIds") Long> others) {
    LastCommits table = new LastCommits(maxRows, FIRST);
    Map<Long, Long> truth = new HashMap<>();
    for (int i = 0; i < writes.size(); i++) {
      long timestamp = FIRST + 2L + 2L * (i / writesPerCommit);
      table.put(writes.get(i), timestamp);
      truth.put(writes.get(i), timestamp);
      assertThat(table.get(writes.get(i))).isEqualTo(timestamp);
    }
    others.forEach(id -> truth.putIfAbsent(id, NEVER));
    assertAnswersAre(truth, table);
  }

  private static void assertAnswersAre(Map<Long, Long> truth, LastCommits table) {
    int known = 0;
    long forgotten = FIRST;
    for (Map.Entry<Long, Long> entry : truth.entrySet()) {
      long id = entry.getKey();
      long timestamp = entry.getValue();
      if (table.get(id) == NEVER) {
        forgotten = Math.max(forgotten, timestamp);
        assertThat(table.atMost(id)).isBetween(Math.max(timestamp, FIRST), table.tmax());
      } else {
        known++;
        assertThat(table.get(id)).isEqualTo(timestamp);
        assertThat(table.atMost(id)).isEqualTo(timestamp);
      }
    }
    assertThat(table.rows()).isEqualTo(known);
    // What was forgotten and then written again counts, too.
    assertThat(table.tmax()).isGreaterThanOrEqualTo(forgotten);
  }

  @Property
  void whenThereIsOneBucketThenItHoldsTheLastSevenAndTmaxIsExact(
      @ForAll @IntRange(min = 1, max = SLOTS_PER_BUCKET) int maxRows,
      @ForAll List<@From("someIds") Long> writes) {
    LastCommits table = new LastCommits(maxRows, NEVER);
    Map<Long, Long> newest = new LinkedHashMap<>();
    long tmax = NEVER;
    for (int i = 0; i < writes.size(); i++) {
      long timestamp = 2L + 2L * i;
      table.put(writes.get(i), timestamp);
      newest.remove(writes.get(i));
      newest.put(writes.get(i), timestamp);
      if (newest.size() > SLOTS_PER_BUCKET) {
        tmax = newest.remove(newest.keySet().iterator().next());
      }
      assertThat(table.tmax()).isEqualTo(tmax);
      assertThat(table.rows()).isEqualTo(newest.size());
    }
    newest.forEach((id, timestamp) -> assertThat(table.get(id)).isEqualTo(timestamp));
  }

  @Test
  void whenOneCommitWritesMoreThanFitsThenTmaxIsItsTimestamp() {
    LastCommits table = new LastCommits(SLOTS_PER_BUCKET, NEVER);
    for (long id = 1; id <= SLOTS_PER_BUCKET + 3; id++) {
      table.put(id, 10);
    }
    assertThat(table.tmax()).isEqualTo(10);
    assertThat(table.rows()).isEqualTo(SLOTS_PER_BUCKET);
  }

  @Test
  void whenARowIsWrittenAgainThenNothingIsForgotten() {
    LastCommits table = new LastCommits(1, NEVER);
    for (long timestamp = 2; timestamp < 100; timestamp += 2) {
      table.put(timestamp % 7, timestamp);
    }
    assertThat(table.tmax()).isEqualTo(NEVER);
    assertThat(table.rows()).isEqualTo(SLOTS_PER_BUCKET);
  }

  @Test
  void whenABucketForgetsThenTheOthersKnowNoLess() {
    LastCommits table = new LastCommits(1000, NEVER);
    Random random = new Random(1);
    long timestamp = 0;
    while (table.tmax() == NEVER) {
      table.put(random.nextLong(), timestamp += 2);
    }
    long unknownIds = random.longs(1000).filter(id -> table.atMost(id) == NEVER).count();
    assertThat(unknownIds).isGreaterThan(900);
  }

  @Test
  void whenTheTableIsUsedAsIntendedThenLittleIsForgotten() {
    int maxRows = 100_000;
    LastCommits table = new LastCommits(maxRows, NEVER);
    int slots = 16384 * SLOTS_PER_BUCKET;
    Random random = new Random(1);
    for (int i = 0; i < 3 * slots; i++) {
      table.put(random.nextLong(), 2L + i);
    }
    long written = 3L * slots;
    assertThat(shareForgottenSince(written - slots / 4, table, random)).isBetween(0.0, 0.001);
    assertThat(shareForgottenSince(written - slots / 2, table, random)).isBetween(0.015, 0.04);
  }

  /** Of ids never written, those that a transaction with this start would be aborted for. */
  private static double shareForgottenSince(long start, LastCommits table, Random random) {
    int tries = 100_000;
    return random.longs(tries).filter(id -> table.atMost(id) > start).count() / (double) tries;
  }
}
