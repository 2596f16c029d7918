// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.raft.RaftSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.ratis.client.impl.ClientProtoUtils;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A follower acknowledges what is in its log, and a leader finds out what is not. */
class AppendTest {
  private static final int FOLLOWER = 0;

  @TempDir Path directory;

  /** It is, when the connection breaks and new entries have come meanwhile. */
  @Test
  void whenAnAppendIsRepeatedWithMoreWhileItIsBeingWrittenThenAllOfItIsInTheLog() throws Exception {
    try (Lonely follower = new Lonely()) {
      CompletableFuture<AppendEntriesReplyProto> once = follower.append("n1", 1, 1);
      CompletableFuture<AppendEntriesReplyProto> again = follower.append("n1", 1, 2);
      assertAcknowledged(once);
      assertAcknowledged(again);
      assertThat(follower.last()).isEqualTo(TermIndex.valueOf(follower.term + 1, follower.next(2)));
    }
  }

  /** It is, when the answer takes too long. */
  @Test
  void whenAnAppendIsRepeatedWhileItIsBeingWrittenThenItIsNotAcknowledgedBefore() throws Exception {
    try (Lonely follower = new Lonely()) {
      CompletableFuture<AppendEntriesReplyProto> once = follower.append("n1", 1, 5);
      CompletableFuture<Long> flushed =
          follower.append("n1", 1, 5).thenApply(answer -> follower.flushed());
      assertThat(flushed.get(10, TimeUnit.SECONDS)).isEqualTo(follower.next(5));
      assertAcknowledged(once);
    }
  }

  /** Its log holds in memory what it could not write; that must not count. */
  @Test
  void whenTheDiskHasFailedThenARepeatedAppendIsNotAcknowledged() throws Exception {
    try (Lonely follower = new Lonely()) {
      follower.refuseNewFile();
      assertThatThrownBy(() -> follower.append("n1", 1, 1).get(10, TimeUnit.SECONDS))
          .hasRootCauseInstanceOf(NoSuchFileException.class);
      assertThat(follower.last().getIndex()).isEqualTo(follower.next(1));
      assertThatThrownBy(() -> follower.append("n1", 1, 1).get(10, TimeUnit.SECONDS))
          .hasMessageContaining("its disk failed");
    }
  }

  @Test
  void whenTheNextLeaderAppendsWhileTheLastOnesEntriesAreBeingWrittenThenItsOwnAreInTheLog()
      throws Exception {
    try (Lonely follower = new Lonely()) {
      CompletableFuture<AppendEntriesReplyProto> old = follower.append("n1", 1, 3);
      CompletableFuture<AppendEntriesReplyProto> now = follower.append("n2", 2, 2);
      assertAcknowledged(now);
      old.handle((reply, failure) -> null).get(10, TimeUnit.SECONDS);
      assertThat(follower.last()).isEqualTo(TermIndex.valueOf(follower.term + 2, follower.next(2)));
    }
  }

  /** As after a power failure, with fsync off. */
  @Test
  void whenAFollowerHasLostItsLogThenTheSameLeaderSendsItAgainWithoutWaitingForMore()
      throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 3, RaftSettings.defaults())) {
      int leader = cluster.awaitLeader();
      cluster.propose(leader, "one");
      cluster.propose(leader, "two");
      cluster.awaitApplied(List.of("one", "two"));
      int forgetful = (leader + 1) % 3;
      cluster.stop(forgetful);
      cluster.loseDisk(forgetful);
      cluster.start(forgetful, cluster.peers);
      cluster.awaitApplied(List.of("one", "two"));
      assertThat(cluster.replica(leader).isLeader()).isTrue();
    }
  }

  private static void assertAcknowledged(CompletableFuture<AppendEntriesReplyProto> answer)
      throws Exception {
    assertThat(answer.get(10, TimeUnit.SECONDS).getResult()).isEqualTo(AppendResult.SUCCESS);
  }

  /** A follower whose peers are gone; the test speaks for them. */
  private final class Lonely implements AutoCloseable {
    private final TestCluster cluster = new TestCluster(directory, 3, RaftSettings.defaults());
    private final RaftServer.Division division;
    private final TermIndex previous;

    /** Later than any election that it may have begun. */
    private final long term;

    Lonely() throws Exception {
      int leader = cluster.awaitLeader();
      cluster.propose(leader, "something");
      cluster.awaitApplied(List.of("something"));
      cluster.stop(1);
      cluster.stop(2);
      division = cluster.member(FOLLOWER).division();
      previous = last();
      term = cluster.replica(FOLLOWER).term() + 1_000;
    }

    long next(int count) {
      return previous.getIndex() + count;
    }

    TermIndex last() {
      return division.getRaftLog().getLastEntryTermIndex();
    }

    /** Up to where the log is on disk. */
    long flushed() {
      return division.getRaftLog().getFlushIndex();
    }

    /** A new term begins with a new file. */
    void refuseNewFile() throws IOException {
      String name = "log_inprogress_" + next(1);
      try (Stream<Path> files = Files.walk(directory.resolve("n" + FOLLOWER))) {
        Path log =
            files
                .filter(file -> file.getFileName().toString().startsWith("log_inprogress_"))
                .findFirst()
                .orElseThrow();
        Files.createSymbolicLink(log.resolveSibling(name), Path.of("nowhere", name));
      }
    }

    CompletableFuture<AppendEntriesReplyProto> append(String leader, int laterTerm, int count)
        throws Exception {
      return cluster
          .members
          .get(FOLLOWER)
          .node
          .rpc()
          .requests()
          .append(request(leader, term + laterTerm, count));
    }

    private AppendEntriesRequestProto request(String leader, long leaderTerm, int count) {
      return AppendEntriesRequestProto.newBuilder()
          .setServerRequest(
              ClientProtoUtils.toRaftRpcRequestProtoBuilder(
                  RaftGroupMemberId.valueOf(RaftPeerId.valueOf(leader), TestCluster.GROUP),
                  RaftPeerId.valueOf("n" + FOLLOWER)))
          .setLeaderTerm(leaderTerm)
          .setPreviousLog(previous.toProto())
          .addAllEntries(
              LongStream.rangeClosed(1, count)
                  .mapToObj(i -> entry(leaderTerm, previous.getIndex() + i))
                  .toList())
          .build();
    }

    private static LogEntryProto entry(long term, long index) {
      return LogEntryProto.newBuilder()
          .setTerm(term)
          .setIndex(index)
          .setStateMachineLogEntry(
              StateMachineLogEntryProto.newBuilder()
                  .setClientId(ClientId.randomId().toByteString())
                  .setCallId(index))
          .build();
    }

    @Override
    public void close() {
      cluster.close();
    }
  }
}
