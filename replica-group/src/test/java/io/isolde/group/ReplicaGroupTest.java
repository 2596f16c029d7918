// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import io.isolde.raft.Peer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReplicaGroupTest {
  private static final int MANY = 300;

  @TempDir private Path folder;

  @Test
  void whenAnyNodeWritesThenAllNodesReadItAndReplicasAgree() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      for (int i = 0; i < 30; i++) {
        nodes.write(i % 3, "k" + i, "v" + i);
        assertThat(nodes.read((i + 1) % 3, "k" + i)).isEqualTo("v" + i);
      }
      for (MemoryStorage storage : nodes.storages) {
        GroupNodes.await(() -> storage.applied.size() == 30);
        assertThat(storage.applied).isEqualTo(nodes.storages.get(0).applied);
      }
      assertThat(loadOfAnother(nodes))
          .isEqualTo(new NodeLoad(42, CompactionPermit.State.WAITING, 7, true));
    }
  }

  @Test
  void whenAMemberIsAskedHowItIsDoingThenItSaysSoAndADeadOneDoesNot() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      long micros = nodes.write(0, "k", "v");
      int leader = nodes.leader();
      int other = (leader + 1) % 3;
      ReplicaStatus status = status(nodes, leader).get(10, TimeUnit.SECONDS);
      assertThat(status.role()).isEqualTo(ReplicaStatus.Role.LEADER);
      assertThat(status.lastMicros()).isEqualTo(micros);
      assertThat(status.appliedIndex()).isEqualTo(status.committedIndex()).isPositive();
      assertThat(status.compactionsPending()).isEqualTo(3);
      assertThat(status.compactionPermit()).isEqualTo(CompactionPermit.State.WAITING);
      GroupNodes.await(() -> status(nodes, other).join().lastMicros() == micros);
      assertThat(status(nodes, other).join().role()).isEqualTo(ReplicaStatus.Role.FOLLOWER);
      nodes.crash(other);
      assertThat(status(nodes, other)).failsWithin(60, TimeUnit.SECONDS);
    }
  }

  /** As the third of them hears it. */
  private static CompletableFuture<ReplicaStatus> status(GroupNodes nodes, int member) {
    int asking = (nodes.leader() + 2) % 3;
    return nodes.servers.get(asking).client().status(GroupNodes.GROUP, nodes.peers.get(member));
  }

  private static NodeLoad loadOfAnother(GroupNodes nodes) throws Exception {
    int leader = nodes.leader();
    ReplicaGroup group = nodes.replica(leader);
    Peer other =
        group.members().stream()
            .filter(member -> !member.id().equals("n" + leader))
            .findFirst()
            .orElseThrow();
    GroupClient client = nodes.servers.get(leader).client();
    return client.load(group, other).get(10, TimeUnit.SECONDS).load();
  }

  @Test
  void whenTheLeaderDiesUnderLoadThenEachWriteIsAppliedOnceAndNoneIsLost() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      int leader = nodes.leader();
      int other = (leader + 1) % 3;
      List<CompletableFuture<Long>> writes = new ArrayList<>();
      for (int i = 0; i < MANY; i++) {
        writes.add(
            nodes
                .servers
                .get(other)
                .client()
                .write(nodes.target(), new int[] {i}, MemoryStorage.payload("k" + i, "v"), null));
        if (i == MANY / 2) {
          writes.get(0).get(90, TimeUnit.SECONDS);
          nodes.crash(leader);
        }
      }
      for (CompletableFuture<Long> write : writes) {
        assertThat(write.get(90, TimeUnit.SECONDS)).isPositive().isEven();
      }
      List<String> applied = List.copyOf(nodes.storages.get(nodes.leader()).applied.values());
      assertThat(applied).hasSize(MANY).doesNotHaveDuplicates();
      nodes.start(leader);
      GroupNodes.await(() -> "v".equals(nodes.storages.get(leader).get("k" + (MANY - 1))));
    }
  }

  @Test
  void whenAWriteComesSoLateThatItIsForgottenThenNobodyClaimsThatItWasDone() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      ReplicaGroup leader = nodes.replica(nodes.leader());
      leader.write(write(new RequestId(7, 200, 100))).get(90, TimeUnit.SECONDS);
      RequestId late = new RequestId(7, 5, 5);
      assertThat(leader.write(write(late)))
          .failsWithin(90, TimeUnit.SECONDS)
          .withThrowableOfType(ExecutionException.class)
          .satisfies(ReplicaGroupTest::assertUnknown);
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
      assertThatThrownBy(() -> leader.decide(late, false, 1, deadline, new TestDecision() {}))
          .satisfies(ReplicaGroupTest::assertUnknown);
      assertThat(nodes.storages.get(nodes.leader()).applied).hasSize(1);
    }
  }

  private static Write write(RequestId id) {
    return new Write(id, new int[] {1}, MemoryStorage.payload("k", "v"), null);
  }

  private static void assertUnknown(Throwable thrown) {
    assertReason(thrown, Reason.TIMED_OUT_UNKNOWN);
  }

  private static void assertReason(Throwable thrown, Reason reason) {
    Throwable failure = thrown instanceof ExecutionException ? thrown.getCause() : thrown;
    assertThat(failure).isInstanceOf(GroupFailure.class);
    assertThat(((GroupFailure) failure).reason()).isEqualTo(reason);
  }

  @Test
  void whenLeadersHandOverWhileDecisionsAreMadeThenEachIsMadeOnce() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      List<CompletableFuture<byte[]>> decisions = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        decisions.add(
            nodes
                .servers
                .get(i % 3)
                .client()
                .decide(nodes.target(), "n".getBytes(StandardCharsets.UTF_8)));
        if (i % 20 == 10) {
          String transferTarget = GroupNodes.host((nodes.leader() + 1) % 3);
          var unused =
              nodes
                  .servers
                  .get(i % 3)
                  .client()
                  .lead(nodes.target(), transferTarget)
                  .get(60, TimeUnit.SECONDS);
        }
      }
      for (CompletableFuture<byte[]> decision : decisions) {
        assertThat(decision.get(90, TimeUnit.SECONDS)).isEmpty();
      }
      assertThat(nodes.read(0, "n")).isEqualTo("60");
    }
  }

  /** Others have written under the leader of the term in between. */
  @Test
  void whenADecisionWasMadeInAnEarlierTermThenItIsNotAppliedAndIsMadeAgain() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      int first = nodes.leader();
      int second = (first + 1) % 3;
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
      RequestId id = new RequestId(9, 1, 1);
      List<String> seen = new ArrayList<>();
      ReplicaGroup.Decision<String> slow =
          new TestDecision() {
            @Override
            public ReplicaGroup.Outcome<String> decide() {
              seen.add(String.valueOf(nodes.storages.get(first).get("k")));
              if (seen.size() == 1) {
                thereAndBack(nodes, first, second);
              }
              byte[] payload = MemoryStorage.payload("k", "after " + seen.get(seen.size() - 1));
              return new ReplicaGroup.Outcome<>("done", payload, null);
            }
          };
      assertThatThrownBy(() -> nodes.replica(first).decide(id, false, 1, deadline, slow))
          .satisfies(thrown -> assertReason(thrown, Reason.NOT_LEADER));
      assertThat(nodes.read(second, "k")).isEqualTo("other");
      assertThat(nodes.replica(first).decide(id, false, 1, deadline, slow)).isEqualTo("done");
      assertThat(nodes.read(second, "k")).isEqualTo("after other");
      assertThat(seen).containsExactly("null", "other");
    }
  }

  private static void thereAndBack(GroupNodes nodes, int first, int second) {
    try {
      lead(nodes, second);
      nodes.write(second, "k", "other");
      lead(nodes, first);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static void lead(GroupNodes nodes, int transferTarget) throws Exception {
    var unused =
        nodes
            .servers
            .get(transferTarget)
            .client()
            .lead(nodes.target(), GroupNodes.host(transferTarget))
            .get(60, TimeUnit.SECONDS);
    GroupNodes.await(() -> nodes.replica(transferTarget).isLeader());
  }

  @Test
  void whenAnAttemptHadNoAnswerThenTheNextOneThatIsRefusedDoesNotSayThatNothingWasDone()
      throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.answers.add(new CompletableFuture<>());
      nodes.answers.add(
          CompletableFuture.failedFuture(new GroupFailure(Reason.REFUSED, "No such table.")));
      assertThat(increment(nodes))
          .failsWithin(90, TimeUnit.SECONDS)
          .withThrowableOfType(ExecutionException.class)
          .satisfies(thrown -> assertReason(thrown, Reason.TIMED_OUT_UNKNOWN));
      nodes.answers.add(new CompletableFuture<>());
      nodes.answers.add(
          CompletableFuture.failedFuture(new GroupFailure(Reason.OVERLOADED, "Too many.")));
      assertThat(increment(nodes)).as("asked again").succeedsWithin(90, TimeUnit.SECONDS);
      assertThat(nodes.answers).isEmpty();
      assertThat(nodes.read(0, "n")).isEqualTo("1");
    }
  }

  private static CompletableFuture<byte[]> increment(GroupNodes nodes) {
    return nodes
        .servers
        .get(0)
        .client()
        .decide(nodes.target(), "n".getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void whenTwoHandOverAtOnceThenOneDoesAndTheOtherIsToldAndTriesAgain() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.write(0, "k", "before");
      int leader = nodes.leader();
      int transferTarget = (leader + 1) % 3;
      ReplicaGroup group = nodes.replica(leader);
      CompletableFuture<Void> first = group.transferLeadership("n" + transferTarget, 10_000);
      CompletableFuture<Void> second = group.transferLeadership("n" + (leader + 2) % 3, 10_000);
      assertThatThrownBy(second::join)
          .cause()
          .isInstanceOfSatisfying(
              GroupFailure.class,
              failure -> assertThat(failure.reason()).isEqualTo(Reason.NOT_LEADER));
      first.get(30, TimeUnit.SECONDS);
      List<CompletableFuture<Void>> asked = new ArrayList<>();
      for (GroupServer server : nodes.servers) {
        asked.add(server.client().lead(nodes.target(), GroupNodes.host(leader)));
      }
      for (CompletableFuture<Void> one : asked) {
        one.get(60, TimeUnit.SECONDS);
      }
      GroupNodes.await(() -> nodes.replica(leader).isLeader());
      nodes.write(transferTarget, "k", "after");
      assertThat(nodes.read(leader, "k")).isEqualTo("after");
    }
  }

  @Test
  void whenAMemberWasAwayWhileTheLogWentThenItCopiesAndFollows() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      int away = (nodes.leader() + 1) % 3;
      nodes.write(0, "before", "1");
      nodes.crash(away);
      int other = (away + 1) % 3;
      for (int i = 0; i < MANY; i++) {
        nodes.write(other, "k" + i, "v".repeat(1000));
      }
      GroupNodes.await(() -> nodes.replica(nodes.leader()).markedIndex() > 100);
      nodes.start(away);
      GroupNodes.await(() -> nodes.storages.get(away).get("k" + (MANY - 1)) != null);
      assertThat(nodes.storages.get(away).copies.get()).isPositive();
      nodes.write(away, "after", "2");
      GroupNodes.await(() -> "2".equals(nodes.storages.get(away).get("after")));
      assertThat(nodes.storages.get(away).get("before")).isEqualTo("1");
    }
  }

  @Test
  void whenAllProcessesEndThenWhatWasAnsweredComesFromTheirLogs() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      for (int i = 0; i < MANY; i++) {
        nodes.write(i % 3, "k" + i, "v".repeat(500));
      }
      for (int i = 0; i < 3; i++) {
        nodes.crash(i);
      }
      for (int i = 0; i < 3; i++) {
        nodes.start(i);
      }
      for (int i = 0; i < MANY; i++) {
        assertThat(nodes.read(i % 3, "k" + i)).isEqualTo("v".repeat(500));
      }
    }
  }

  @Test
  void whenANodeHasLostItsLogThenItStaysOutAndItsSuccessorIsTakenIn() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.write(0, "k", "v");
      int lost = (nodes.leader() + 1) % 3;
      nodes.crash(lost);
      Path log = folder.resolve("n" + lost).resolve("logs").resolve(GroupNodes.GROUP.toString());
      try (var files = Files.walk(log)) {
        for (Path file :
            new ArrayList<>(files.sorted(java.util.Comparator.reverseOrder()).toList())) {
          Files.delete(file);
        }
      }
      nodes.start(lost);
      assertThat(nodes.servers.get(lost).group(GroupNodes.GROUP)).isEmpty();
      assertThat(nodes.servers.get(lost).problem(GroupNodes.GROUP).orElseThrow())
          .contains("must not vote");
      nodes.crash(lost);
      nodes.storages.get(lost).lose();
      Peer successor = new Peer("new" + lost, nodes.peers.get(lost).address());
      nodes.peers.set(lost, successor);
      nodes.start(lost, List.of());
      GroupNodes.await(() -> isTakenIn(nodes, lost));
      GroupNodes.await(() -> "v".equals(nodes.storages.get(lost).get("k")));
      assertThat(new HashSet<>(nodes.replica(nodes.leader()).members()))
          .isEqualTo(new HashSet<>(nodes.peers));
    }
  }

  /** As a node does: it asks again until it works. */
  private static boolean isTakenIn(GroupNodes nodes, int number) {
    return nodes
        .membership(number)
        .rejoin(nodes.target())
        .handle((done, failure) -> failure == null)
        .join();
  }
}
