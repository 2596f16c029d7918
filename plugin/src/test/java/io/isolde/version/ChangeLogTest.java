// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.testing.CassandraInProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.dht.Murmur3Partitioner;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ChangeLogTest {
  private static final long MUCH = 1_000_000;

  private final TestClock clock = TestClock.ofThisNode();
  private final AtomicLong nodeBytes = new AtomicLong();
  private ChangeLog log = new ChangeLog(clock, nodeBytes, MUCH);
  private VersionedTable table;

  @BeforeEach
  void turnOn() {
    table = new VersionedTable("(id int PRIMARY KEY)");
    log.setOn(true, CassandraInProcess.table(table.name).getTracker().getView());
  }

  @AfterEach
  void drop() {
    table.close();
  }

  private static DecoratedKey key(long number) {
    return Murmur3Partitioner.instance.decorateKey(ByteBufferUtil.bytes(number));
  }

  private void add(long timestamp) {
    log.add(new ChangeLog.Change(key(timestamp), Clustering.EMPTY, timestamp));
  }

  /** The timestamps of what was written after one. */
  private List<Long> after(long asOf) {
    ChangeLog.Node node = log.before(asOf);
    if (node == null) {
      return null;
    }
    List<Long> after = new ArrayList<>();
    for (node = node.next(); node != null; node = node.next()) {
      if (node.change.timestamp() > asOf) {
        after.add(node.change.timestamp());
      }
    }
    return after;
  }

  @Test
  void whenItIsOffThenNothingIsKeptAndNothingIsCovered() {
    log.setOn(false, null);
    add(clock.next());
    assertThat(after(clock.latestTimestamp())).isNull();
    assertThat(nodeBytes).hasValue(0);
  }

  @Test
  void whenChangesComeOutOfOrderThenAllThatAreNewerAreFound() {
    long start = clock.latestTimestamp();
    assertThat(after(start)).isEmpty();
    for (long late : new long[] {10, 4, 12, 6, 2, 8}) {
      add(start + late);
    }
    assertThat(after(start))
        .containsExactlyInAnyOrder(
            start + 10, start + 4, start + 12, start + 6, start + 2, start + 8);
    assertThat(after(start + 6)).containsExactlyInAnyOrder(start + 10, start + 12, start + 8);
    assertThat(after(start + 12)).isEmpty();
  }

  @Test
  void whenNobodyNeedsThemThenChangesGoAndOlderReadersAreNotCovered() {
    long start = clock.latestTimestamp();
    assertThat(log.covers(start)).isTrue();
    for (int i = 1; i <= 5; i++) {
      add(start + i * 2L);
    }
    long full = nodeBytes.get();
    log.release(start + 4);
    assertThat(nodeBytes.get()).isLessThan(full).isPositive();
    assertThat(after(start + 2)).isNull();
    assertThat(after(start + 4)).containsExactly(start + 6, start + 8, start + 10);
    log.release(start + 100);
    assertThat(nodeBytes).hasValue(0);
    assertThat(after(start + 10)).isEmpty();
  }

  @Test
  void whenThereIsNoMoreRoomThenTheOldestGoFirst() {
    log = new ChangeLog(clock, nodeBytes, 1_000);
    turnOn();
    long start = clock.latestTimestamp();
    assertThat(log.covers(start)).isTrue();
    for (int i = 1; i <= 100; i++) {
      add(start + i * 2L);
    }
    assertThat(nodeBytes.get()).isBetween(1L, 1_000L);
    assertThat(after(start)).isNull();
    assertThat(after(start + 198)).containsExactly(start + 200);
  }

  @Test
  void whenDataComesFromElsewhereThenReadersFromBeforeItAreNotCovered() {
    long start = clock.latestTimestamp();
    assertThat(log.covers(start)).isTrue();
    log.missed(start + 7);
    assertThat(log.covers(start + 6)).isFalse();
    assertThat(log.covers(start + 8)).isTrue();
  }

  /** What was written to the table before may be newer than the reader's snapshot. */
  @Test
  void whenItIsNotKnownHowNewTheTableIsThenNothingIsCovered() {
    log.setOn(false, null);
    clock.lagBehind();
    turnOn();
    assertThat(log.covers(clock.latestTimestamp() + 100)).isFalse();
    clock.catchUp();
    assertThat(log.covers(clock.latestTimestamp())).isTrue();
  }

  @Test
  void whenAReaderHoldsItsPlaceThenItSeesWhatComesEvenIfOlderChangesGo() {
    long start = clock.latestTimestamp();
    add(start + 2);
    ChangeLog.Node place = log.before(start);
    assertThat(place).isNotNull();
    log.release(start + 2);
    add(start + 4);
    assertThat(place.next().change.timestamp()).isEqualTo(start + 2);
    assertThat(place.next().next().change.timestamp()).isEqualTo(start + 4);
  }

  @Test
  void whenAPartitionIsBeingWrittenThenReadersOfItKnow() {
    Object writer = new Object();
    assertThat(log.begin(writer, key(1))).isTrue();
    assertThat(log.awaitWriting(key -> true)).containsExactly(key(1));
    assertThat(log.awaitWriting(key -> key.equals(key(2)))).isEmpty();
    log.end(writer);
    assertThat(log.awaitWriting(key -> true)).isEmpty();
  }

  @Test
  void whenTheTableIsGoneThenItsMemoryIsFreeAndTheLogStaysOff() {
    add(clock.next());
    assertThat(nodeBytes.get()).isPositive();
    log.close();
    assertThat(nodeBytes).hasValue(0);
    log.setOn(true, CassandraInProcess.table(table.name).getTracker().getView());
    assertThat(log.isOn()).isFalse();
  }
}
