// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.raft.LogDamagedException;
import io.isolde.raft.RaftSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files of a log are not as they were written: their ends, their middles, their beginnings. */
class DamagedLogTest {
  private static final RaftSettings QUICK = RaftSettings.defaults().withElections(400, 800, 0.3);
  private static final int ENTRIES = 40;

  @TempDir Path directory;

  /** What the leader can mend. */
  @SuppressWarnings("ImmutableEnumChecker") // Lambdas without state.
  enum LostEnd {
    NINE_ZEROS(bytes -> LogDamage.zeroEnd(bytes, 9)),
    ONE_FLIPPED_BYTE(bytes -> LogDamage.flip(bytes, LogDamage.used(bytes) - 6, 1)),
    TRUNCATED(bytes -> LogDamage.truncate(bytes, 9)),
    TRUNCATED_BY_MANY_ENTRIES(bytes -> LogDamage.truncate(bytes, 700)),
    TORN_HEADER(bytes -> Arrays.copyOf(bytes, 5)),
    EMPTY(bytes -> new byte[0]);

    private final UnaryOperator<byte[]> how;

    LostEnd(UnaryOperator<byte[]> how) {
      this.how = how;
    }
  }

  @Test
  void whenAFollowerLosesTheEndOfItsLogOrAllOfItThenItGetsItAgain() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 3, QUICK)) {
      List<String> all = write(cluster);
      int follower = (cluster.awaitLeader() + 1) % 3;
      LogDamage damage = damage(cluster, follower);
      for (LostEnd lost : LostEnd.values()) {
        cluster.stop(follower);
        LogDamage.change(damage.open(), lost.how);
        cluster.start(follower, cluster.peers);
        cluster.awaitApplied(all);
        TestCluster.await(() -> !cluster.member(follower).hasLostItsEnd());
      }
      cluster.stop(follower);
      for (Path file : damage.logs()) {
        Files.delete(file);
      }
      cluster.start(follower, cluster.peers);
      cluster.awaitApplied(all);
    }
  }

  @Test
  void whenAnAcknowledgedEndIsLostThenNobodyLeadsWithoutIt() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 3, QUICK)) {
      int leader = cluster.awaitLeader();
      int follower = (leader + 1) % 3;
      int without = (leader + 2) % 3;
      cluster.propose(leader, "all have it");
      cluster.awaitApplied(List.of("all have it"));
      cluster.deafen(without);
      cluster.propose(leader, "two have it");
      cluster.stop(follower); // First: what it has last is what it has acknowledged.
      cluster.stop(leader);
      cluster.stop(3 - leader - follower);
      LogDamage.change(damage(cluster, follower).open(), bytes -> LogDamage.zeroEnd(bytes, 9));

      cluster.start(follower, cluster.peers);
      cluster.start(without, cluster.peers);

      assertThat(cluster.member(follower).hasLostItsEnd()).isTrue();
      Thread.sleep(5L * QUICK.electionTimeoutMaxMillis()); // Long enough to elect somebody.
      assertThat(cluster.replica(follower).isLeader()).isFalse();
      assertThat(cluster.replica(without).isLeader()).isFalse();

      cluster.start(leader, cluster.peers);

      assertThat(cluster.awaitLeader()).isEqualTo(leader);
      cluster.awaitApplied(List.of("all have it", "two have it"));
    }
  }

  @Test
  void whenTheEndIsLostAndTheThirdIsGoneThenTheOtherLeadsWithItsVote() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 3, QUICK)) {
      List<String> all = write(cluster);
      int leader = cluster.awaitLeader();
      int follower = (leader + 1) % 3;
      cluster.stop(follower); // First: what it has last is what it has acknowledged.
      cluster.stop(leader);
      cluster.stop(3 - leader - follower);
      LogDamage.change(damage(cluster, follower).open(), bytes -> LogDamage.zeroEnd(bytes, 9));

      cluster.start(follower, cluster.peers);
      cluster.start(leader, cluster.peers);

      assertThat(cluster.awaitLeader()).isEqualTo(leader);
      cluster.awaitApplied(all);
    }
  }

  @Test
  void whenTheOnlyMemberStopsInTheMiddleOfAnEntryThenItGoesOnWithoutThat() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 1, QUICK)) {
      List<String> all = write(cluster);
      cluster.stop(0);
      Path open = damage(cluster, 0).open();
      byte[] bytes = Files.readAllBytes(open);
      byte[] half = Arrays.copyOfRange(bytes, bytes.length - 30, bytes.length - 10);
      Files.write(open, half, StandardOpenOption.APPEND);

      cluster.start(0, cluster.peers);

      cluster.awaitLeader();
      cluster.awaitApplied(all);
      cluster.propose(0, "after");
    }
  }

  @Test
  void whenTheOnlyMemberHasLostWhatItAnsweredThenItDoesNotStart() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 1, QUICK)) {
      write(cluster);
      cluster.stop(0);
      LogDamage.change(damage(cluster, 0).open(), bytes -> LogDamage.zeroEnd(bytes, 9));

      for (int attempt = 0; attempt < 3; attempt++) {
        assertThatThrownBy(() -> cluster.start(0, cluster.peers))
            .isInstanceOf(LogDamagedException.class)
            .hasMessageContaining("is the only member");
      }
    }
  }

  /** What nobody may go on with. */
  @SuppressWarnings("ImmutableEnumChecker") // Lambdas without state.
  enum Damage {
    MIDDLE(damage -> LogDamage.change(damage.open(), bytes -> LogDamage.flip(bytes, 400, 8))),
    FIRST_ENTRY(damage -> LogDamage.change(damage.open(), bytes -> LogDamage.flip(bytes, 9, 1))),
    HEADER(damage -> LogDamage.change(damage.open(), bytes -> LogDamage.flip(bytes, 0, 8))),
    FILE_BEFORE(
        damage -> LogDamage.change(damage.logs().get(0), bytes -> LogDamage.zeroEnd(bytes, 9))),
    MISSING_FILE(damage -> Files.delete(damage.logs().get(1))),
    MISSING_FIRST_FILE(damage -> Files.delete(damage.logs().get(0))),
    VOTES(
        damage -> {
          Files.delete(damage.files().resolve("raft-meta"));
          Files.delete(damage.files().resolveSibling("raft-meta.copy"));
        });

    private interface Change {
      void to(LogDamage damage) throws IOException;
    }

    private final Change change;

    Damage(Change change) {
      this.change = change;
    }
  }

  @Test
  void whenALogIsDamagedThenTheNodeStaysOutAndSaysSo() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 3, QUICK)) {
      int follower = (cluster.awaitLeader() + 1) % 3;
      write(cluster);
      beginAnotherFile(cluster, follower);
      beginAnotherFile(cluster, follower);
      List<String> all = write(cluster);
      cluster.stop(follower);
      LogDamage damage = damage(cluster, follower);
      assertThat(damage.logs()).hasSizeGreaterThan(2);
      Map<Path, byte[]> whole = contents(damage);
      for (Damage what : Damage.values()) {
        what.change.to(damage);
        String damaged = checksums(damage);
        for (int attempt = 0; attempt < 2; attempt++) {
          assertThatThrownBy(() -> cluster.start(follower, cluster.peers))
              .as(what.name())
              .isInstanceOf(LogDamagedException.class)
              .hasMessageMatching("(?s).*(damaged|missing).*");
        }
        assertThat(checksums(damage)).as(what.name()).isEqualTo(damaged);
        for (Map.Entry<Path, byte[]> file : whole.entrySet()) {
          Files.write(file.getKey(), file.getValue());
        }
      }

      cluster.start(follower, cluster.peers);

      cluster.awaitApplied(all);
    }
  }

  /** A new term does. */
  private static void beginAnotherFile(TestCluster cluster, int follower) throws Exception {
    int leader = cluster.awaitLeader();
    int next = 3 - leader - follower;
    cluster.replica(leader).transferLeadership(cluster.peers.get(next).id(), 5_000).get();
    cluster.awaitLeaderOtherThan(leader);
    cluster.propose(cluster.awaitLeader(), "of a new term");
  }

  private static Map<Path, byte[]> contents(LogDamage damage) throws IOException {
    Map<Path, byte[]> contents = new TreeMap<>();
    try (var files = Files.list(damage.files())) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        contents.put(file, Files.readAllBytes(file));
      }
    }
    return contents;
  }

  private static String checksums(LogDamage damage) throws IOException {
    StringBuilder checksums = new StringBuilder();
    contents(damage)
        .forEach(
            (file, bytes) ->
                checksums.append(file.getFileName()).append(Arrays.hashCode(bytes)).append(' '));
    return checksums.toString();
  }

  private LogDamage damage(TestCluster cluster, int number) {
    return new LogDamage(directory.resolve(cluster.peers.get(number).id()));
  }

  /** Writes some entries, and waits until all nodes have them. */
  private static List<String> write(TestCluster cluster) throws Exception {
    int leader = cluster.awaitLeader();
    for (int i = 0; i < ENTRIES; i++) {
      cluster.propose(leader, "entry " + i);
    }
    int everything = cluster.members.get(leader).machine.applied().size();
    List<String> all = cluster.members.get(leader).machine.applied();
    assertThat(everything).isGreaterThanOrEqualTo(ENTRIES);
    cluster.awaitApplied(all);
    return all;
  }
}
