// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.apply.StuckOracle;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.replica.Command;
import io.isolde.testing.CassandraInProcess;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class LargeCommitsTest {
  private final List<Integer> numbers = Collections.synchronizedList(new ArrayList<>());
  private final Set<UUID> stagings = Collections.synchronizedSet(new HashSet<>());
  private final Set<UUID> givenUp = Collections.synchronizedSet(new HashSet<>());
  private final AtomicInteger overloads = new AtomicInteger();
  private final AtomicLong bytes = new AtomicLong();
  private volatile ErrorCode failure;
  private volatile Runnable check = () -> {};

  private final StuckOracle oracle =
      new StuckOracle() {
        @Override
        public CompletableFuture<Void> stage(
            UUID staging, int number, int totalBytes, byte[] part) {
          stagings.add(staging);
          if (number == 0 && overloads.getAndDecrement() > 0) {
            return failed(ErrorCode.ORACLE_OVERLOADED);
          }
          if (number == 1 && failure != null) {
            return failed(failure);
          }
          numbers.add(number);
          assertThat(bytes.addAndGet(part.length)).isLessThanOrEqualTo(totalBytes);
          return CompletableFuture.completedFuture(null);
        }

        @Override
        public void unstage(UUID staging) {
          givenUp.add(staging);
        }
      };

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    CassandraInProcess.execute(
        "CREATE TABLE IF NOT EXISTS test.loaded (id int PRIMARY KEY, v text)");
  }

  private static CompletableFuture<Void> failed(ErrorCode code) {
    return CompletableFuture.failedFuture(IsoldeException.of(code, "planned"));
  }

  private CompletableFuture<Command.Staged> stage(long timeoutMillis) {
    List<PartitionUpdate> updates =
        IntStream.range(0, 6).mapToObj(LargeCommitsTest::write).toList();
    return new LargeCommits(oracle).stage(updates, timeoutMillis, check);
  }

  private static PartitionUpdate write(int id) {
    PartitionUpdate.SimpleBuilder update =
        PartitionUpdate.simpleBuilder(CassandraInProcess.table("loaded").metadata(), id)
            .timestamp(1);
    update.row().add("v", "x".repeat(100_000));
    return update.build();
  }

  private static void assertRefused(CompletableFuture<Command.Staged> staged, ErrorCode code) {
    assertThatThrownBy(() -> staged.get(20, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOfSatisfying(
            IsoldeException.class, e -> assertThat(e.errorCode()).isEqualTo(code));
  }

  @Test
  void whenThereIsNoRoomForAWhileThenPartsComeLaterInTheirOrder() throws Exception {
    overloads.set(3);
    Command.Staged staged = stage(10_000).get(20, TimeUnit.SECONDS);
    assertThat(staged.parts()).isEqualTo(3);
    assertThat(stagings).containsExactly(staged.id());
    assertThat(numbers).containsExactly(0, 1, 2);
    assertThat(givenUp).isEmpty();
  }

  @Test
  void whenItIsTriedAgainThenItHasAnotherName() throws Exception {
    stage(10_000).get(20, TimeUnit.SECONDS);
    bytes.set(0);
    stage(10_000).get(20, TimeUnit.SECONDS);
    assertThat(stagings).hasSize(2);
  }

  @Test
  void whenItCanNoLongerBeAppliedAfterAllIsStagedThenItIsRefusedAndThePartsAreGivenUp() {
    check =
        () -> {
          throw IsoldeException.of(ErrorCode.UNAVAILABLE, "planned");
        };
    assertRefused(stage(10_000), ErrorCode.UNAVAILABLE);
    assertThat(numbers).containsExactly(0, 1, 2);
    assertThat(givenUp).isEqualTo(stagings).hasSize(1);
  }

  @Test
  void whenThereIsNoRoomInTimeThenItIsRefusedAndThePartsAreGivenUp() {
    overloads.set(Integer.MAX_VALUE);
    assertRefused(stage(250), ErrorCode.ORACLE_OVERLOADED);
    assertThat(givenUp).isEqualTo(stagings).hasSize(1);
  }

  @Test
  void whenAPartIsNotTakenThenItIsRefusedAtOnceAndThePartsAreGivenUp() {
    for (ErrorCode code : List.of(ErrorCode.COORDINATOR_FENCED, ErrorCode.TRANSACTION_TOO_LARGE)) {
      failure = code;
      bytes.set(0);
      assertRefused(stage(10_000), code);
    }
    assertThat(numbers).containsExactly(0, 0);
    assertThat(givenUp).isEqualTo(stagings).hasSize(2);
  }
}
