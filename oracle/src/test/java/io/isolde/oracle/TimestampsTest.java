// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class TimestampsTest {
  private static Timestamps reserved() {
    Timestamps timestamps = new Timestamps(0);
    timestamps.reserve(1_000_000);
    return timestamps;
  }

  @Property
  void whateverTheClockDoesThenTimestampsAreEvenAndIncrease(
      @ForAll List<@LongRange(min = -10, max = 900_000) Long> clock) {
    Timestamps timestamps = reserved();
    long last = timestamps.last();
    for (long now : clock) {
      long next = timestamps.next(now);
      assertThat(next).isGreaterThan(last).isEven();
      assertThat(next).isGreaterThanOrEqualTo(now - 1);
      last = next;
    }
  }

  @Test
  void whenTheClockStandsOrJumpsBackThenTimestampsGoOnByTwo() {
    Timestamps timestamps = reserved();
    assertThat(timestamps.next(1001)).isEqualTo(1000);
    assertThat(timestamps.next(1001)).isEqualTo(1002);
    assertThat(timestamps.next(5)).isEqualTo(1004);
    assertThat(timestamps.next(9000)).isEqualTo(9000);
  }

  @Test
  void whenNothingIsReservedThenNothingIsIssued() {
    Timestamps timestamps = new Timestamps(7);
    assertThatThrownBy(() -> timestamps.next(100))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("The timestamp 100 is above the reservation, which ends at 6.");
    assertThat(timestamps.last()).isEqualTo(6);
  }

  @Test
  void whenTheReservationIsUsedUpThenOnlyMoreOfItHelps() {
    Timestamps timestamps = new Timestamps(0);
    timestamps.reserve(11);
    assertThat(timestamps.next(10)).isEqualTo(10);
    assertThatThrownBy(() -> timestamps.next(0)).isInstanceOf(IllegalStateException.class);
    timestamps.reserve(12);
    assertThat(timestamps.next(0)).isEqualTo(12);
  }

  @Test
  void whenASmallerReservationComesThenItIsIgnored() {
    Timestamps timestamps = reserved();
    timestamps.reserve(5);
    assertThat(timestamps.reservedUntil()).isEqualTo(1_000_000);
  }

  @Test
  void whenAdvancedThenNothingAtOrBelowIsIssued() {
    Timestamps timestamps = reserved();
    timestamps.advanceTo(501);
    assertThat(timestamps.next(0)).isEqualTo(502);
    timestamps.advanceTo(10);
    assertThat(timestamps.next(0)).isEqualTo(504);
    assertThatThrownBy(() -> timestamps.advanceTo(2_000_000))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void whenTheFirstTimestampIsNegativeThenItIsRefused() {
    assertThatThrownBy(() -> new Timestamps(-1)).isInstanceOf(IllegalArgumentException.class);
  }
}
