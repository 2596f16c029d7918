// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.transport.PeerTransport;
import io.isolde.raft.transport.RaftReceiver;
import io.isolde.raft.transport.ServerConnection;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers the peers' Raft requests, never on event loops. Appends and parts of snapshots of a
 * connection are handled in order. As long as the log takes entries, no thread waits for the disk.
 * So a vote gets through while they are being written, and a heartbeat does in any case.
 */
final class RaftRequests implements RaftReceiver {
  /** A question before a vote, or a vote that the leader wants: its lease is over. */
  static final byte VOTE = 1;

  /** Any other vote: refused by those who may have renewed the leader's lease. */
  static final byte GUARDED_VOTE = 2;

  /** Would you vote early? Changes nothing, so the loser disturbs nobody. */
  static final byte EARLY_PRE_VOTE = 3;

  static final byte APPEND = 4;
  static final byte SNAPSHOT = 5;
  static final byte START_ELECTION = 6;
  static final byte READ_INDEX = 7;

  /** Is the hand-over to me still on? */
  static final byte HAND_OVER = 8;

  private static final Logger log = LoggerFactory.getLogger(RaftRequests.class);

  private final RaftServer server;
  private final PeerTransport transport;
  private final LeaderWatch watch;

  RaftRequests(RaftServer server, PeerTransport transport, LeaderWatch watch) {
    this.server = server;
    this.transport = transport;
    this.watch = watch;
  }

  @Override
  public void onClosed(String sender) {
    watch.onLost(sender);
  }

  @Override
  public void onRequest(ServerConnection from, byte kind, long requestId, ByteBuf body) {
    boolean ordered = kind == APPEND || kind == SNAPSHOT;
    Executor threads = ordered ? from.inOrder() : transport.workers();
    try {
      threads.execute(() -> answer(from, kind, requestId, body));
    } catch (RejectedExecutionException e) {
      body.release();
      from.fail(requestId, "Too many Raft requests wait, or the node is closed.");
    }
  }

  private void answer(ServerConnection from, byte kind, long requestId, ByteBuf body) {
    try {
      switch (kind) {
        case VOTE -> vote(from, requestId, vote(body));
        case GUARDED_VOTE -> guardedVote(from, requestId, vote(body));
        case EARLY_PRE_VOTE -> earlyPreVote(from, requestId, body);
        case APPEND -> append(from, requestId, body);
        case SNAPSHOT -> snapshot(from, requestId, body);
        case START_ELECTION ->
            standForLeader(
                from, requestId, RaftCall.decode(body, StartLeaderElectionRequestProto.parser()));
        case HAND_OVER -> handOver(from, requestId, body);
        case READ_INDEX -> readIndex(from, requestId, body);
        default -> {
          body.release();
          from.fail(requestId, "Unknown kind of frame: " + kind);
        }
      }
    } catch (IOException | RuntimeException e) {
      fail(from, requestId, e);
    }
  }

  private static RequestVoteRequestProto vote(ByteBuf body) throws IOException {
    return RaftCall.decode(body, RequestVoteRequestProto.parser());
  }

  private void vote(ServerConnection from, long requestId, RequestVoteRequestProto request)
      throws IOException {
    RaftGroupId group = RaftRpcService.group(request.getServerRequest());
    respond(from, requestId, member(group).vote(request));
  }

  /**
   * Votes only if no append can have renewed the old leader's lease: none came for as long as a
   * lease, and none while the vote was being given. What comes later finds the higher term.
   */
  private void guardedVote(ServerConnection from, long requestId, RequestVoteRequestProto request)
      throws IOException {
    RaftGroupId group = RaftRpcService.group(request.getServerRequest());
    long before = watch.lastAppendNanos(group);
    if (!watch.isLeaseOver(group)) {
      from.fail(requestId, "The leader's lease may not be over.");
      return;
    }
    MessageLite reply = member(group).vote(request);
    if (watch.lastAppendNanos(group) != before) {
      from.fail(requestId, "The leader is alive.");
      return;
    }
    respond(from, requestId, reply);
  }

  private void earlyPreVote(ServerConnection from, long requestId, ByteBuf body)
      throws IOException {
    EarlyQuestion question;
    try {
      question = EarlyQuestion.decode(body);
    } finally {
      body.release();
    }
    log.debug("{} asks for an early vote", question);
    boolean yes = watch.wouldVote(question);
    from.respond(requestId, yesOrNo(yes));
  }

  /** Stands if the leader, which may have given up since it sent this, still wants it. */
  private void standForLeader(
      ServerConnection from, long requestId, StartLeaderElectionRequestProto request)
      throws IOException {
    RaftGroupId group = RaftRpcService.group(request.getServerRequest());
    RatisMember member = member(group);
    long term = member.term();
    RaftPeerId leader = RaftPeerId.valueOf(request.getServerRequest().getRequestorId());
    CompletableFuture<StartLeaderElectionReplyProto> stands =
        watch
            .isStillOn(leader, new HandOver.Question(group, term))
            .thenApplyAsync(
                isOn -> {
                  if (!isOn) {
                    throw new CompletionException(new IOException("The leader has given up."));
                  }
                  member.handOver().grant(term + 1);
                  return stand(member, request);
                },
                transport.workers());
    var unused = stands.whenComplete((reply, failure) -> complete(from, requestId, reply, failure));
  }

  private static StartLeaderElectionReplyProto stand(
      RatisMember member, StartLeaderElectionRequestProto request) {
    try {
      return member.stand(request);
    } catch (IOException e) {
      throw new CompletionException(e);
    }
  }

  private void handOver(ServerConnection from, long requestId, ByteBuf body) throws IOException {
    HandOver.Question question;
    try {
      question = HandOver.Question.decode(body);
    } finally {
      body.release();
    }
    boolean isOn = member(question.group()).handOver().take(from.sender(), question.term());
    from.respond(requestId, yesOrNo(isOn));
  }

  private RatisMember member(RaftGroupId group) throws IOException {
    return watch
        .member(group)
        .orElseThrow(() -> new IOException("This node has no replica of group " + group + "."));
  }

  private static ByteBuf yesOrNo(boolean yes) {
    return Unpooled.wrappedBuffer(new byte[] {(byte) (yes ? 1 : 0)});
  }

  private void append(ServerConnection from, long requestId, ByteBuf body) throws IOException {
    append(from, requestId, RaftCall.decode(body, AppendEntriesRequestProto.parser()));
  }

  void append(ServerConnection from, long requestId, AppendEntriesRequestProto request)
      throws IOException {
    var unused =
        append(request).whenComplete((reply, failure) -> complete(from, requestId, reply, failure));
  }

  CompletableFuture<AppendEntriesReplyProto> append(AppendEntriesRequestProto request)
      throws IOException {
    RaftGroupId group = RaftRpcService.group(request.getServerRequest());
    watch.onAppend(group);
    return member(group).append(request);
  }

  private void snapshot(ServerConnection from, long requestId, ByteBuf body) throws IOException {
    InstallSnapshotRequestProto request =
        RaftCall.decode(body, InstallSnapshotRequestProto.parser());
    RaftGroupId group = RaftRpcService.group(request.getServerRequest());
    // Ratis would take it while the group still starts, and then the start would fail.
    RatisMember unused = member(group);
    watch.onAppend(group);
    respond(from, requestId, server.installSnapshot(request));
  }

  private void readIndex(ServerConnection from, long requestId, ByteBuf body) throws IOException {
    var unused =
        server
            .readIndexAsync(RaftCall.decode(body, ReadIndexRequestProto.parser()))
            .whenComplete((reply, failure) -> complete(from, requestId, reply, failure));
  }

  private static void complete(
      ServerConnection from, long requestId, MessageLite reply, Throwable failure) {
    if (failure != null) {
      fail(from, requestId, failure);
      return;
    }
    try {
      respond(from, requestId, reply);
    } catch (IOException e) {
      fail(from, requestId, e);
    }
  }

  private static void respond(ServerConnection from, long requestId, MessageLite reply)
      throws IOException {
    from.respond(requestId, RaftCall.encode(reply));
  }

  private static void fail(ServerConnection from, long requestId, Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    log.debug("A Raft request from {} failed", from.sender(), cause);
    from.fail(requestId, cause.getClass().getSimpleName() + ": " + cause.getMessage());
  }
}
