// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.RaftSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads without a lease: each takes the answers of a majority to what was sent after it began. */
class ReadIndexTest {
  private static final int LONG_MILLIS = 10_000;

  /** For the followers to be hanging; shorter than a lease, which would still allow the read. */
  private static final int HANGING_MILLIS = 50;

  /** Nobody stands for election in this time. */
  private static final RaftSettings READ_INDEX =
      RaftSettings.defaults()
          .withElections(LONG_MILLIS, 2 * LONG_MILLIS, 0.03)
          .withLeaseReads(false);

  @TempDir Path directory;

  /** Nodes that neither hear nor speak until it is closed. */
  private record Hanging(TestCluster cluster, CountDownLatch over) implements AutoCloseable {
    Hanging(TestCluster cluster) {
      this(cluster, new CountDownLatch(1));
    }

    void begin(int number) {
      cluster.hang(number, over);
    }

    @Override
    public void close() {
      over.countDown();
    }
  }

  @Test
  void whenOneFollowerAnswersThenReadsAreServedWithoutTheOther() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 3, READ_INDEX);
        Hanging hanging = new Hanging(cluster)) {
      int leader = cluster.awaitLeader();
      cluster.propose(leader, "before");
      hanging.begin((leader + 1) % 3);
      for (int i = 0; i < 10; i++) {
        read(cluster, leader).get(10, TimeUnit.SECONDS);
        assertThat(cluster.replica(leader).leadsForSure()).as("it has to ask").isFalse();
      }
    }
  }

  @Test
  void whenANodeIsAloneThenItHasNobodyToAsk() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 1, RaftSettings.defaults())) {
      assertThat(cluster.replica(cluster.awaitLeader()).leadsForSure()).isTrue();
    }
  }

  private static CompletableFuture<Void> read(TestCluster cluster, int leader) {
    return cluster.replica(leader).barrier();
  }

  @Test
  void whenNoFollowerAnswersThenAReadWaitsUntilOneDoes() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 3, READ_INDEX);
        Hanging first = new Hanging(cluster);
        Hanging second = new Hanging(cluster)) {
      int leader = cluster.awaitLeader();
      cluster.propose(leader, "before");
      cluster.awaitApplied(List.of("before"));
      read(cluster, leader).get(10, TimeUnit.SECONDS);
      first.begin((leader + 1) % 3);
      second.begin((leader + 2) % 3);
      Thread.sleep(HANGING_MILLIS);
      CompletableFuture<Void> read = read(cluster, leader);
      Thread.sleep(2L * READ_INDEX.leaseMillis());
      assertThat(read).as("nobody has answered since it began").isNotDone();
      first.close();
      read.get(10, TimeUnit.SECONDS);
    }
  }

  @Test
  void whenTheLeaderIsCutOffThenAReadIsRefusedWhenItStepsDown() throws Exception {
    RaftSettings steppingDownSoon = RaftSettings.defaults().withLeaseReads(false);
    try (TestCluster cluster = new TestCluster(directory, 3, steppingDownSoon);
        Hanging hanging = new Hanging(cluster)) {
      int leader = cluster.awaitLeader();
      cluster.propose(leader, "before");
      cluster.awaitApplied(List.of("before"));
      hanging.begin((leader + 1) % 3);
      hanging.begin((leader + 2) % 3);
      Thread.sleep(HANGING_MILLIS);
      assertThat(read(cluster, leader))
          .failsWithin(LONG_MILLIS, TimeUnit.MILLISECONDS)
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(GroupFailure.class);
    }
  }
}
