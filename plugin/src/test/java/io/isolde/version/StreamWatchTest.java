// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.cassandra.notifications.SSTableAddedNotification;
import org.junit.jupiter.api.Test;

class StreamWatchTest {
  private static final SSTableAddedNotification STREAMED =
      new SSTableAddedNotification(List.of(), null);

  private final TestClock clock = new TestClock();
  private final Horizon horizon = new Horizon();
  private final AtomicBoolean isTakingRanges = new AtomicBoolean();
  private final StreamWatch watch =
      new StreamWatch(
          horizon, new ChangeLog(clock, new AtomicLong(), 0), clock, isTakingRanges::get);

  @Test
  void whenDataOfNewRangesComesThenOlderSnapshotsAreRefused() {
    isTakingRanges.set(true);
    watch.handleNotification(STREAMED, this);

    assertThat(horizon.timestamp()).isEqualTo(clock.latestTimestamp());
  }

  @Test
  void whenDataOfARepairComesThenTheHorizonStays() {
    long before = horizon.timestamp();
    watch.handleNotification(STREAMED, this);

    assertThat(horizon.timestamp()).isEqualTo(before);
  }
}
