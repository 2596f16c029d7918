// SPDX-License-Identifier: Apache-2.0
package io.isolde.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.OracleConfig;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedOracleTest {
  private static final long SECOND = 1_000_000;
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final long RETENTION = 5 * SECOND;

  @TempDir private Path folder;
  private TimestampReservation reservation;
  private EmbeddedOracle oracle;
  private Duration later = Duration.ZERO;

  @BeforeEach
  void create() {
    reservation = new TimestampReservation(folder.resolve("reservation"));
    oracle = startedAt(START);
  }

  private EmbeddedOracle startedAt(Instant time) {
    return new EmbeddedOracle(
        OracleConfig.defaults().withMaxRows(1024).withRetentionMicros(RETENTION),
        reservation,
        10 * SECOND,
        new Clock() {
          @Override
          public Instant instant() {
            return time.plus(later);
          }

          @Override
          public ZoneId getZone() {
            return ZoneOffset.UTC;
          }

          @Override
          public Clock withZone(ZoneId zone) {
            return this;
          }
        });
  }

  private long commit() {
    CommitRequest request =
        new CommitRequest(
            UUID.randomUUID(),
            IsolationLevel.SERIALIZABLE,
            oracle.stable(),
            new long[0],
            new long[] {1},
            new long[] {1});
    return ((Decision.Committed) oracle.commit(request, new byte[0]).join()).commitTimestamp();
  }

  @Test
  void whenItStartsAgainThenTimestampsGoOnAlsoIfTheClockWentBack() {
    long last = oracle.next();
    EmbeddedOracle again = startedAt(START.minus(Duration.ofHours(1)));
    assertThat(again.next()).isGreaterThan(last);
    assertThat(again.begin(UUID.randomUUID())).isGreaterThan(last);
  }

  @Test
  void whenTimestampsAreGivenOutThenTheyAreReservedOnDiskBefore() {
    for (int i = 0; i < 100; i++) {
      assertThat(oracle.next()).isLessThanOrEqualTo(reservation.read());
    }
    oracle.advanceTo(oracle.next() + 100 * SECOND);
    assertThat(oracle.next()).isLessThanOrEqualTo(reservation.read());
  }

  @Test
  void whenACommitIsAppliedThenThoseWhoWaitForItGoOnInOrder() {
    long first = commit();
    long second = commit();
    CompletableFuture<Void> firstStable = oracle.whenStable(first);
    CompletableFuture<Void> secondStable = oracle.whenStable(second);
    assertThat(oracle.applied(second)).isNotDone();
    assertThat(firstStable).isNotDone();
    assertThat(secondStable).isNotDone();
    assertThat(oracle.stableSoFar()).isLessThan(first);
    assertThat(oracle.applied(first)).isDone();
    assertThat(oracle.stableSoFar()).isGreaterThanOrEqualTo(second);
    assertThat(firstStable).isDone();
    assertThat(secondStable).isDone();
    assertThat(oracle.stable()).isGreaterThanOrEqualTo(second);
    assertThat(oracle.whenStable(second)).isDone();
  }

  @Test
  void whenSomebodyStopsWaitingThenNothingIsLeftOfThem() {
    long commit = commit();
    for (int i = 0; i < 100; i++) {
      oracle.whenStable(commit).cancel(false);
    }
    assertThat(oracle.waiting()).isZero();
    CompletableFuture<Void> stable = oracle.whenStable(commit);
    assertThat(oracle.waiting()).isOne();
    assertThat(oracle.applied(commit)).isDone();
    assertThat(stable).isCompleted();
    assertThat(oracle.waiting()).isZero();
  }

  @Test
  void whenNobodyIsOpenThenThePastIsStillRetained() {
    later = Duration.ofSeconds(60);
    long now = oracle.stable();
    assertThat(oracle.lowWatermark()).isEqualTo(now - RETENTION);
    assertThat(oracle.latestTimestamp()).isEqualTo(now);
  }
}
