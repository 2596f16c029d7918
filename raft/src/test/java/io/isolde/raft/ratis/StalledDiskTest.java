// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.raft.RaftSettings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A disk that takes nothing and says nothing. */
class StalledDiskTest {
  private static final long LIMIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  @TempDir Path directory;

  @Test
  void whenEntriesWaitAndNoneIsFinishedThenItHangs() {
    StalledDisk disk = new StalledDisk(100);
    assertThat(look(disk, 0, 5, 5)).isFalse();
    assertThat(look(disk, 500, 5, 5)).isFalse();
    assertThat(look(disk, 599, 5, 9)).isFalse();
    assertThat(look(disk, 600, 5, 9)).isTrue();
    assertThat(look(disk, 601, 6, 9)).isFalse();
    assertThat(look(disk, 701, 6, 9)).isTrue();
    assertThat(look(disk, 702, 9, 9)).isFalse();
  }

  @Test
  void whenThisProcessWasSuspendedThenTheDiskIsNotToBlame() {
    StalledDisk disk = new StalledDisk(100);
    disk.look(0, 0, 5, 6);
    disk.look(3 * LIMIT_NANOS, 3 * LIMIT_NANOS, 5, 6);
    assertThat(disk.isStalled()).isFalse();
    disk.look(4 * LIMIT_NANOS, 3 * LIMIT_NANOS, 5, 6);
    assertThat(disk.isStalled()).isTrue();
  }

  private static boolean look(StalledDisk disk, long millis, long flushed, long last) {
    disk.look(TimeUnit.MILLISECONDS.toNanos(millis), -LIMIT_NANOS, flushed, last);
    return disk.isStalled();
  }

  @Test
  void whenALeadersDiskHangsThenAnotherLeadsAndItFollowsWhenTheDiskGoesOn() throws Exception {
    try (HangingDisk disk = new HangingDisk(directory.resolve("image"), directory.resolve("n0"));
        TestCluster cluster = new TestCluster(directory, 3, RaftSettings.defaults())) {
      lead(cluster, 0);
      List<String> expected = new ArrayList<>(List.of("before"));
      cluster.propose(0, "before");

      disk.hang();

      // Whether it is committed is not known: the followers have it.
      CompletableFuture<Void> unknown = cluster.replica(0).propose(new Text("during"));
      int next = cluster.awaitLeaderOtherThan(0);
      cluster.propose(next, "after");
      assertThat(cluster.replica(0).failure()).isEmpty();
      assertThat(cluster.member(0).isDiskStalled()).isTrue();
      assertThat(cluster.replica(0).isLeader()).isFalse();
      assertThat(cluster.replica(0).leader()).isEmpty();

      disk.goOn();

      TestCluster.await(unknown::isDone);
      if (cluster.members.get(next).machine.applied().contains("during")) {
        expected.add("during");
      }
      expected.add("after");
      cluster.awaitApplied(expected);
      lead(cluster, 0);
      cluster.propose(0, "well");
      expected.add("well");
      cluster.awaitApplied(expected);
    }
  }

  /** Its leader does not know whether what has no answer has arrived. */
  @Test
  void whenAFollowersDiskHangsThenWhatIsSentAgainAndAgainIsNotKept() throws Exception {
    RaftSettings settings =
        RaftSettings.defaults().withRequestTimeout(100).withAppends(4 << 20, 256, 1);
    try (HangingDisk disk = new HangingDisk(directory.resolve("image"), directory.resolve("n1"));
        TestCluster cluster = new TestCluster(directory, 3, settings)) {
      lead(cluster, 0);
      cluster.propose(0, "before");
      TestCluster.Member member = cluster.members.get(1);
      KeptAppends appends = new KeptAppends(member.node.rpc().requests());
      member.transport.serveRaft(appends);
      disk.hang();

      cluster.propose(0, "after");

      RatisMember follower = member.replica.member();
      TestCluster.await(() -> follower.appendsWaiting() >= 3);
      TestCluster.await(() -> appends.kept() == 0); // But for one that is just being appended.
      int most = RatisMember.maxAppendsWaiting(settings);
      TestCluster.await(() -> follower.appendsWaiting() == most && appends.count() > most + 2);
      assertThat(follower.appendsWaiting()).isEqualTo(most);

      disk.goOn();

      cluster.awaitApplied(List.of("before", "after"));
      TestCluster.await(() -> follower.appendsWaiting() == 0);
    }
  }

  private static void lead(TestCluster cluster, int number) {
    TestCluster.await(
        () -> {
          int leader = cluster.awaitLeader();
          if (leader != number) {
            cluster
                .replica(leader)
                .transferLeadership("n" + number, 2000)
                .exceptionally(notYet -> null)
                .join();
          }
          return cluster.replica(number).isLeader();
        });
  }
}
