// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.RaftSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The leader's process ends or hangs; the time-out is so long that only the broken connection, or
 * its silence, can tell.
 */
class LeaderFailureTest {
  private static final int LONG_MILLIS = 10_000;
  private static final RaftSettings PATIENT =
      RaftSettings.defaults().withElections(LONG_MILLIS, 2 * LONG_MILLIS, 0.03);

  @TempDir Path directory;

  @Test
  void whenTheLeadersPortDiesThenAnotherLeadsLongBeforeTheTimeOut() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 3, PATIENT)) {
      int old = cluster.awaitLeader();
      cluster.propose(old, "before");
      cluster.awaitApplied(List.of("before"));
      long start = System.nanoTime();
      cluster.kill(old);
      int leader = cluster.awaitLeaderOtherThan(old);
      assertThat(cluster.propose(leader, "after")).isEqualTo("2");
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      assertThat(millis).isBetween(PATIENT.leaseMillis() / 2, LONG_MILLIS - 1L);
    }
  }

  @Test
  void whenTheLeaderClosesThenAnotherLeadsAndNothingIsLost() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 3, PATIENT)) {
      int old = cluster.awaitLeader();
      cluster.propose(old, "before");
      cluster.stop(old);
      int leader = cluster.awaitLeader();
      assertThat(cluster.propose(leader, "after")).isEqualTo("2");
      cluster.start(old, cluster.peers);
      cluster.awaitApplied(List.of("before", "after"));
    }
  }

  @Test
  void whenTheLeaderHangsThenAnotherLeadsLongBeforeTheTimeOutAndItFollows() throws Exception {
    RaftSettings rarelyStanding = RaftSettings.defaults().withElections(500, 2 * LONG_MILLIS, 0.2);
    CountDownLatch goesOn = new CountDownLatch(1);
    try (TestCluster cluster = new TestCluster(directory, 3, rarelyStanding)) {
      int old = cluster.awaitLeader();
      cluster.propose(old, "before");
      cluster.awaitApplied(List.of("before"));
      try {
        long start = System.nanoTime();
        cluster.hang(old, goesOn);
        int leader = cluster.awaitLeaderOtherThan(old);
        assertThat(cluster.propose(leader, "after")).isEqualTo("2");
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        assertThat(millis).isBetween(rarelyStanding.leaseMillis(), LONG_MILLIS / 2L);
      } finally {
        goesOn.countDown();
      }
      cluster.awaitApplied(List.of("before", "after"));
    }
  }

  /** It has read before, and nothing was written since, so Ratis would ask nobody. */
  @Test
  void whenAnotherLeadsThenTheOldLeaderThatDoesNotKnowItYetReadsNothing() throws Exception {
    RaftSettings rarelyStanding = RaftSettings.defaults().withElections(500, 2 * LONG_MILLIS, 0.2);
    CountDownLatch goesOn = new CountDownLatch(1);
    try (TestCluster cluster = new TestCluster(directory, 3, rarelyStanding)) {
      int old = cluster.awaitLeader();
      cluster.propose(old, "before");
      cluster.awaitApplied(List.of("before"));
      long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(1_500);
      while (System.nanoTime() < until) {
        cluster.replica(old).barrier().get(10, TimeUnit.SECONDS);
        Thread.sleep(10);
      }
      TestCluster.awaitSure(cluster.replica(old));
      try {
        cluster.hang(old, goesOn);
        int leader = cluster.awaitLeaderOtherThan(old);
        cluster.propose(leader, "after");
        assertThat(cluster.replica(old).isLeader()).as("for all that it knows").isTrue();
        assertThat(cluster.replica(old).leadsForSure()).isFalse();
        assertThat(cluster.replica(old).barrier())
            .failsWithin(2L * LONG_MILLIS, TimeUnit.MILLISECONDS)
            .withThrowableOfType(ExecutionException.class)
            .withCauseInstanceOf(GroupFailure.class);
      } finally {
        goesOn.countDown();
      }
    }
  }

  @Test
  void whenOneFollowerAloneHearsNothingThenTheLeaderStays() throws Exception {
    RaftSettings rarelyStanding = RaftSettings.defaults().withElections(500, 2 * LONG_MILLIS, 0.2);
    CountDownLatch goesOn = new CountDownLatch(1);
    try (TestCluster cluster = new TestCluster(directory, 3, rarelyStanding)) {
      int leader = cluster.awaitLeader();
      cluster.propose(leader, "before");
      long term = cluster.member(leader).division().getInfo().getCurrentTerm();
      cluster.hang((leader + 1) % 3, goesOn);
      Thread.sleep(3 * rarelyStanding.silenceMillis());
      goesOn.countDown();
      cluster.propose(leader, "after");
      cluster.awaitApplied(List.of("before", "after"));
      assertThat(cluster.member(leader).division().getInfo().getCurrentTerm()).isEqualTo(term);
    } finally {
      goesOn.countDown();
    }
  }
}
