// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/** Transactions that each read and write one of a few rows, and what they must look like. */
final class Load {
  private static final int ROWS = 40;

  /** What one transaction has seen. */
  private record Done(
      long row,
      long start,
      long askedNanos,
      long answeredNanos,
      long visibleNanos,
      long begunNanos,
      Decision decision) {
    boolean isCommitted() {
      return decision instanceof Decision.Committed;
    }

    long timestamp() {
      return ((Decision.Committed) decision).commitTimestamp();
    }
  }

  private final Random random = new Random(7);
  private final ConcurrentLinkedQueue<Done> done = new ConcurrentLinkedQueue<>();
  private final List<CompletableFuture<Void>> under = new ArrayList<>();

  /** Starts some transactions, without waiting for them. */
  void start(CoordinatorSession session, int count) {
    for (int i = 0; i < count; i++) {
      under.add(transaction(session, random.nextInt(ROWS)));
    }
  }

  private CompletableFuture<Void> transaction(CoordinatorSession session, long row) {
    long begun = System.nanoTime();
    return session
        .begin()
        .thenCompose(
            start -> {
              long asked = System.nanoTime();
              CommitRequest request =
                  new CommitRequest(
                      UUID.randomUUID(),
                      IsolationLevel.SERIALIZABLE,
                      start,
                      new long[] {row},
                      new long[0],
                      new long[] {row});
              return session
                  .commit(request)
                  .thenCompose(
                      decision -> {
                        long answered = System.nanoTime();
                        session.ended(start);
                        CompletableFuture<Void> visible =
                            decision instanceof Decision.Committed committed
                                ? session.applied(committed.commitTimestamp())
                                : CompletableFuture.completedFuture(null);
                        return visible.thenAccept(
                            nothing ->
                                done.add(
                                    new Done(
                                        row,
                                        start,
                                        asked,
                                        answered,
                                        System.nanoTime(),
                                        begun,
                                        decision)));
                      });
            });
  }

  int answered() {
    return done.size();
  }

  /** Waits for all; fails if one fails. */
  void await() throws Exception {
    CompletableFuture.allOf(under.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
  }

  /** Each decision is what the rules say, and time goes forward. */
  void check() {
    List<Done> committed = done.stream().filter(Done::isCommitted).toList();
    Set<Long> timestamps = new HashSet<>();
    for (Done one : committed) {
      assertThat(timestamps.add(one.timestamp())).as("no timestamp comes twice").isTrue();
      assertThat(one.timestamp()).isGreaterThan(one.start());
    }
    for (Done one : done) {
      boolean hasConflict =
          committed.stream()
              .anyMatch(
                  other ->
                      other.row() == one.row()
                          && other.timestamp() > one.start()
                          && (!one.isCommitted() || other.timestamp() < one.timestamp()));
      assertThat(hasConflict).as("conflict of %s", one).isEqualTo(!one.isCommitted());
      for (Done other : committed) {
        if (one.isCommitted() && other.answeredNanos() < one.askedNanos()) {
          assertThat(other.timestamp()).isLessThan(one.timestamp());
        }
        if (other.visibleNanos() < one.begunNanos()) {
          assertThat(one.start()).isGreaterThanOrEqualTo(other.timestamp());
        }
      }
    }
  }

  /** The largest timestamp that was committed. */
  long newest() {
    return done.stream().filter(Done::isCommitted).mapToLong(Done::timestamp).max().orElse(0);
  }
}
