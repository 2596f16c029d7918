// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class PendingCommitsTest {

  @Property(tries = 300)
  void whateverTheOrderOfRemovalsThenItAnswersAsTheModel(@ForAll long seed) {
    Random random = new Random(seed);
    PendingCommits pending = new PendingCommits(100);
    TreeMap<Long, PendingCommit> model = new TreeMap<>();
    TreeSet<Long> inDoubt = new TreeSet<>();
    int most = 1 + random.nextInt(100);
    for (long timestamp = 2; timestamp < 2000; timestamp += 2) {
      PendingCommit commit = new PendingCommit(new UUID(1, timestamp), timestamp, timestamp % 3);
      pending.add(commit, new long[] {timestamp, 1});
      model.put(timestamp, commit);
      if (random.nextInt(10) == 0) {
        long some = random.nextBoolean() ? model.firstKey() : timestamp;
        pending.inDoubt(some);
        inDoubt.add(some);
      }
      while (model.size() == most || (!model.isEmpty() && random.nextInt(4) == 0)) {
        List<Long> timestamps = new ArrayList<>(model.keySet());
        long removed = timestamps.get(random.nextInt(timestamps.size()));
        pending.remove(removed);
        model.remove(removed);
        inDoubt.remove(removed);
        assertThat(pending.contains(removed)).isFalse();
      }
      assertThat(pending.size()).isEqualTo(model.size());
      assertThat(pending.inDoubt().commits().keySet()).isEqualTo(inDoubt);
      Optional<Long> holding =
          model.keySet().stream().filter(some -> !inDoubt.contains(some)).findFirst();
      assertThat(pending.isHolding()).isEqualTo(holding.isPresent());
      assertThat(pending.isHolding() ? pending.smallestHolding() : 0).isEqualTo(holding.orElse(0L));
      assertThat(pending.contains(timestamp)).isEqualTo(model.containsKey(timestamp));
      long after = random.nextInt((int) timestamp + 1);
      assertThat(pending.after(after)).isEqualTo(List.copyOf(model.tailMap(after, false).keySet()));
    }
    assertThat(pending.all()).isEqualTo(List.copyOf(model.values()));
    model.values().forEach(each -> assertThat(pending.of(each.transactionId())).isEqualTo(each));
  }

  @Test
  void whenTheBoundShrinksThenWhatIsPendingStays() {
    PendingCommits pending = new PendingCommits(2);
    pending.add(new PendingCommit(null, 2, 0), new long[] {1});
    pending.add(new PendingCommit(null, 4, 0), new long[] {1});
    pending.setMaxPending(1);
    pending.remove(2);
    assertThat(pending.isFull()).isTrue();
    assertThat(pending.contains(4)).isTrue();
    pending.remove(4);
    assertThat(pending.isFull()).isFalse();
  }
}
