// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.raft.RaftSettings;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.ratis.server.raftlog.segmented.SegmentedRaftLog;
import org.apache.ratis.statemachine.TransactionContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A follower stands still while a leader's log grows: what its memory holds of that stays small.
 */
class LogCacheTest {
  private static final int FILE_BYTES = 1 << 16;
  private static final int ENTRY_BYTES = 30_000;
  private static final int ENTRIES = 200;
  private static final int TOGETHER = 20;

  /** Two that Ratis keeps, one that a follower reads, and those with what is just written. */
  private static final int MAX_FILES = 2 + 1 + TOGETHER / 2 + 1;

  private static final RaftSettings SMALL =
      RaftSettings.defaults()
          .withElections(10_000, 20_000, 0.03)
          .withAppends(FILE_BYTES, 256, 8)
          .withSegmentBytes(FILE_BYTES);

  @TempDir Path directory;

  @Test
  void whenAFollowerStandsStillThenTheLeaderKeepsFewFilesOfItsLogInMemory() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 3, SMALL)) {
      int leader = cluster.awaitLeader();
      cluster.deafen((leader + 1) % 3);
      for (int i = 0; i < ENTRIES; i += TOGETHER) {
        proposeSome(cluster.replica(leader), i);
        assertThat(filesInMemory(cluster.member(leader)))
            .as("after %d entries", i + TOGETHER)
            .isLessThanOrEqualTo(MAX_FILES);
      }
    }
  }

  @Test
  void whenAFollowerAppliesNothingForAWhileThenItKeepsLittleOfItInMemoryAndAppliesAllOfItLater()
      throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 3, SMALL)) {
      int leader = cluster.awaitLeader();
      int slow = (leader + 1) % 3;
      CountDownLatch open = new CountDownLatch(1);
      cluster.members.get(slow).machine.awaitBeforeEachEntry(open);
      List<String> expected = new ArrayList<>();
      for (int i = 0; i < ENTRIES; i += TOGETHER) {
        expected.addAll(proposeSome(cluster.replica(leader), i));
      }
      RatisMember replica = cluster.member(slow);
      TestCluster.await(
          () -> replica.division().getRaftLog().getLastEntryTermIndex().getIndex() >= ENTRIES);
      assertThat(startedBytes(replica)).isBetween(1L, (long) ENTRIES * ENTRY_BYTES / 100);
      assertThat(filesInMemory(replica)).isLessThanOrEqualTo(MAX_FILES);
      open.countDown();
      cluster.awaitApplied(expected);
    }
  }

  private static List<String> proposeSome(RatisReplica leader, int first) throws Exception {
    List<String> texts = new ArrayList<>();
    List<CompletableFuture<Void>> proposals = new ArrayList<>();
    for (int i = first; i < first + TOGETHER; i++) {
      texts.add(i + "x".repeat(ENTRY_BYTES));
      proposals.add(leader.propose(new Text(texts.get(texts.size() - 1))));
    }
    CompletableFuture.allOf(proposals.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
    return texts;
  }

  /** What Ratis keeps of entries that are appended and not applied, beside the log. */
  private static long startedBytes(RatisMember replica) throws ReflectiveOperationException {
    Method started =
        replica.division().getClass().getDeclaredMethod("getTransactionContextMapForTesting");
    started.setAccessible(true);
    long bytes = 0;
    for (Object each : ((Map<?, ?>) started.invoke(replica.division())).values()) {
      TransactionContext context = (TransactionContext) ((Supplier<?>) each).get();
      bytes += context.getLogEntry().getSerializedSize();
    }
    return bytes;
  }

  private static long filesInMemory(RatisMember replica) throws ReflectiveOperationException {
    Field cache = SegmentedRaftLog.class.getDeclaredField("cache");
    cache.setAccessible(true);
    Object files = cache.get(replica.division().getRaftLog());
    Method count = files.getClass().getDeclaredMethod("getCachedSegmentNum");
    count.setAccessible(true);
    return (long) count.invoke(files);
  }
}
