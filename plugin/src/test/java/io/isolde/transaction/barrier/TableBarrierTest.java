// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction.barrier;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.testing.CassandraInProcess;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.concurrent.OpOrder;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class TableBarrierTest {
  private static final long LONG_MILLIS = 60_000;
  private static final UUID CHANGE = new UUID(0, 1);
  private static final UUID OTHER = new UUID(0, 2);
  private static final UUID THIRD = new UUID(0, 3);

  private static TableMetadata table;

  private final TableBarrier barrier = new TableBarrier();

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    table = TableMetadata.builder("k", "t").addPartitionKeyColumn("p", Int32Type.instance).build();
  }

  /** A statement that runs to its end. */
  private CompletableFuture<Void> statement() {
    return CompletableFuture.runAsync(() -> barrier.enter(List.of(table)).close());
  }

  @Test
  void whenClosedThenStatementsWaitUntilItIsOpened() throws Exception {
    assertThat(barrier.close(table.id, CHANGE, LONG_MILLIS)).isTrue();
    CompletableFuture<Void> statement = statement();
    Thread.sleep(50);
    assertThat(statement).isNotDone();
    barrier.open(table.id, CHANGE);
    statement.get(10, TimeUnit.SECONDS);
  }

  @Test
  void whenAStatementIsUnderWayThenTheChangeWaitsForIt() throws Exception {
    OpOrder.Group statement = barrier.enter(List.of(table));
    assertThat(barrier.close(table.id, CHANGE, LONG_MILLIS)).isTrue();
    CompletableFuture<Boolean> change = isQuiet(table);
    Thread.sleep(50);
    assertThat(change).isNotDone();
    statement.close();
    assertThat(change.get(10, TimeUnit.SECONDS)).isTrue();
    barrier.open(table.id, CHANGE);
  }

  private CompletableFuture<Boolean> isQuiet(TableMetadata changed) {
    return CompletableFuture.supplyAsync(() -> barrier.awaitStatements(changed.id));
  }

  @Test
  void whenATruncateIsUnderWayThenOnlyAChangeOfItsTableWaitsForIt() throws Exception {
    TableMetadata other =
        TableMetadata.builder("k", "o").addPartitionKeyColumn("p", Int32Type.instance).build();
    TableBarrier.Truncation truncation = barrier.enterTruncation(table);
    TableBarrier.Truncation second = barrier.enterTruncation(table);
    assertThat(barrier.close(other.id, CHANGE, LONG_MILLIS)).isTrue();
    assertThat(isQuiet(other).get(10, TimeUnit.SECONDS)).isTrue();
    assertThat(barrier.close(table.id, OTHER, LONG_MILLIS)).isTrue();
    CompletableFuture<Boolean> change = isQuiet(table);
    truncation.close();
    Thread.sleep(50);
    assertThat(change).isNotDone();
    second.close();
    assertThat(change.get(10, TimeUnit.SECONDS)).isTrue();
    CompletableFuture<Void> next =
        CompletableFuture.runAsync(() -> barrier.enterTruncation(table).close());
    Thread.sleep(50);
    assertThat(next).isNotDone();
    barrier.open(table.id, OTHER);
    next.get(10, TimeUnit.SECONDS);
  }

  @Test
  void whenTheLeaseEndsDuringATruncateThenTheChangeHearsOfIt() throws Exception {
    try (TableBarrier.Truncation unused = barrier.enterTruncation(table)) {
      assertThat(barrier.close(table.id, CHANGE, 100)).isTrue();
      assertThat(isQuiet(table).get(10, TimeUnit.SECONDS)).isFalse();
    }
  }

  @Test
  void whenAnotherChangeHasClosedItThenItIsRefusedAndOnlyThatOneOpensIt() {
    assertThat(barrier.close(table.id, CHANGE, LONG_MILLIS)).isTrue();
    assertThat(barrier.close(table.id, OTHER, LONG_MILLIS)).isFalse();
    barrier.open(table.id, OTHER);
    assertThat(barrier.close(table.id, THIRD, LONG_MILLIS)).isFalse();
    barrier.open(table.id, CHANGE);
    assertThat(barrier.close(table.id, THIRD, LONG_MILLIS)).isTrue();
  }

  @Test
  void whenTheSameChangeClosesItAgainThenItIsOpenedOnce() {
    assertThat(barrier.close(table.id, CHANGE, LONG_MILLIS)).isTrue();
    assertThat(barrier.close(table.id, CHANGE, LONG_MILLIS)).as("asked twice").isTrue();
    barrier.open(table.id, CHANGE);
    assertThat(barrier.close(table.id, OTHER, LONG_MILLIS)).isTrue();
  }

  @Test
  void whenARequestToCloseComesAfterItWasOpenedThenItStaysOpen() {
    assertThat(barrier.close(table.id, CHANGE, LONG_MILLIS)).isTrue();
    barrier.open(table.id, CHANGE);
    assertThat(barrier.close(table.id, CHANGE, LONG_MILLIS)).as("a copy that was late").isFalse();
    assertThat(statement()).succeedsWithin(Duration.ofSeconds(10));
  }

  @Test
  void whenNobodyOpensItThenStatementsGoOnWhenTheLeaseEnds() throws Exception {
    assertThat(barrier.close(table.id, CHANGE, 100)).isTrue();
    statement().get(10, TimeUnit.SECONDS);
    assertThat(barrier.close(table.id, OTHER, 0)).isTrue();
    assertThat(barrier.close(table.id, CHANGE, LONG_MILLIS)).as("the lease is over").isTrue();
  }

  @Test
  void whenTheSameChangeClosesItAgainThenItsLeaseBeginsAnew() {
    assertThat(barrier.close(table.id, CHANGE, LONG_MILLIS)).isTrue();
    assertThat(barrier.close(table.id, CHANGE, 2 * LONG_MILLIS)).isTrue();
    assertThat(barrier.leaseMillis(table.id)).isGreaterThan(LONG_MILLIS);
  }

  /** A node has started since the change began; and one can't be asked. */
  @Test
  void whenAChangeTakesLongThenTheLeasesOfAllNodesThatAreUpAreRenewedUntilItEnds()
      throws Exception {
    Set<String> up = ConcurrentHashMap.newKeySet();
    up.add("first");
    BlockingQueue<String> renewed = new LinkedBlockingQueue<>();
    AtomicInteger failures = new AtomicInteger();
    try (var unused =
        LeaseRenewal.start(
            () -> up,
            node -> {
              if (failures.getAndIncrement() == 0) {
                throw new IllegalStateException("not connected");
              }
              renewed.add(node);
            })) {
      assertThat(renewed.poll(60, TimeUnit.SECONDS)).isEqualTo("first");
      up.remove("first");
      up.add("second");
      String next = renewed.poll(60, TimeUnit.SECONDS);
      while ("first".equals(next)) {
        next = renewed.poll(60, TimeUnit.SECONDS);
      }
      assertThat(next).isEqualTo("second");
    }
  }
}
