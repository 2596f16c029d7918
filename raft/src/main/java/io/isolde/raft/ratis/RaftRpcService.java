// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.Peer;
import io.isolde.raft.RaftSettings;
import io.isolde.raft.transport.FutureResponse;
import io.isolde.raft.transport.PeerLink;
import io.isolde.raft.transport.PeerTransport;
import io.isolde.raft.transport.RaftReceiver;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexReplyProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.server.protocol.RaftServerAsynchronousProtocol;
import org.apache.ratis.util.ProtoUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What Ratis sends to peers, over our port. What it receives is in {@link RaftRequests}.
 *
 * <p>There are two connections to each peer: entries and snapshots have one, everything that must
 * not wait behind them (votes, heartbeats, read indexes) the other.
 */
final class RaftRpcService implements RaftServerRpc, RaftServerAsynchronousProtocol {
  private static final Logger log = LoggerFactory.getLogger(RaftRpcService.class);

  private final RaftServer server;
  private final RpcType type;
  private final PeerTransport transport;
  private final RaftSettings settings;
  private final LeaderWatch watch;
  private final RaftRequests requests;
  private final Map<RaftPeerId, Links> links = new ConcurrentHashMap<>();
  private final Map<RaftGroupId, FollowerAnswers> answers = new ConcurrentHashMap<>();

  /** The two connections to a peer. */
  private record Links(PeerLink control, PeerLink bulk) {
    void leaveIfUnanswered(long millis) {
      control.leaveIfUnanswered(millis);
      bulk.leaveIfUnanswered(millis);
    }

    void close() {
      control.close();
      bulk.close();
    }
  }

  RaftRpcService(RaftServer server, RpcType type, PeerTransport transport, RaftSettings settings) {
    this.server = server;
    this.type = type;
    this.transport = transport;
    this.settings = settings;
    this.watch = new LeaderWatch(this, settings);
    this.requests = new RaftRequests(server, transport, watch);
  }

  void watch(RatisMember member) {
    watch.start(member);
  }

  void unwatch(RaftGroupId group) {
    watch.forget(group);
    answers.remove(group);
  }

  /** What followers of this node's replica of a group answer. */
  FollowerAnswers answers(RaftGroupId group) {
    return answers.computeIfAbsent(group, id -> new FollowerAnswers(settings));
  }

  void stopWatching() {
    watch.close();
  }

  @Override
  public void start() {
    watch.keepConnected();
    watch.watchForSilence();
    transport.serveRaft(requests);
  }

  @Override
  public void close() {
    transport.serveRaft(RaftReceiver.NONE);
    watch.close();
    links.values().forEach(Links::close);
  }

  @Override
  public void addRaftPeers(Collection<RaftPeer> peers) {
    for (RaftPeer ratisPeer : peers) {
      if (ratisPeer.getId().equals(server.getId()) || ratisPeer.getAddress() == null) {
        continue;
      }
      Peer peer = RatisTypes.peer(ratisPeer);
      links.compute(
          ratisPeer.getId(),
          (id, old) -> {
            if (old != null && old.control().address().equals(peer.address())) {
              return old;
            }
            if (old != null) {
              old.close();
            }
            return new Links(
                new PeerLink(peer.address(), transport, () -> watch.onLost(peer.id())),
                new PeerLink(peer.address(), transport, () -> {}));
          });
    }
  }

  /**
   * Opens the connections that votes will need, so that an election finds them open. What a leader
   * of before has sent in vain is not waited for either.
   */
  void keepConnected() {
    for (Links peer : links.values()) {
      peer.leaveIfUnanswered(settings.requestTimeoutMillis());
      peer.control().connect();
    }
  }

  /**
   * To be called when this node begins to lead: what it sends now must not wait for what is old.
   */
  void refresh(RaftPeerId peer) throws IOException {
    links(peer).leaveIfUnanswered(settings.heartbeatMillis());
  }

  PeerLink control(RaftPeerId peer) throws IOException {
    return links(peer).control();
  }

  private Links links(RaftPeerId peer) throws IOException {
    Links found = links.get(peer);
    if (found == null) {
      throw new IOException("The address of peer " + peer + " is not known.");
    }
    return found;
  }

  @Override
  public RequestVoteReplyProto requestVote(RequestVoteRequestProto request) throws IOException {
    RaftRpcRequestProto header = request.getServerRequest();
    watch.beforeCandidacy(group(header), request.getPreVote());
    boolean isGuarded = watch.isGuarded(group(header), request);
    byte kind = isGuarded ? RaftRequests.GUARDED_VOTE : RaftRequests.VOTE;
    return RaftCall.send(control(to(header)), kind, request, RequestVoteReplyProto.parser())
        .await(settings.requestTimeoutMillis());
  }

  @Override
  public AppendEntriesReplyProto appendEntries(AppendEntriesRequestProto request)
      throws IOException {
    return append(request).await(settings.requestTimeoutMillis());
  }

  @Override
  public CompletableFuture<AppendEntriesReplyProto> appendEntriesAsync(
      AppendEntriesRequestProto request) throws IOException {
    return append(request).reply();
  }

  RaftCall<AppendEntriesReplyProto> append(AppendEntriesRequestProto request) throws IOException {
    Links peer = links(to(request.getServerRequest()));
    boolean heartbeat = request.getEntriesCount() == 0;
    return RaftCall.send(
        heartbeat ? peer.control() : peer.bulk(),
        RaftRequests.APPEND,
        request,
        AppendEntriesReplyProto.parser());
  }

  @Override
  public InstallSnapshotReplyProto installSnapshot(InstallSnapshotRequestProto request)
      throws IOException {
    return RaftCall.send(
            links(to(request.getServerRequest())).bulk(),
            RaftRequests.SNAPSHOT,
            request,
            InstallSnapshotReplyProto.parser())
        .await(settings.requestTimeoutMillis());
  }

  /**
   * Never fails, but says no. If it failed at once, Ratis 3.3.0 would end the hand-over without
   * forgetting it ({@code TransferLeadership.start}): this leader would refuse all that comes, and
   * hand over to nobody, for the rest of its term.
   */
  @Override
  public StartLeaderElectionReplyProto startLeaderElection(
      StartLeaderElectionRequestProto request) {
    try {
      return RaftCall.send(
              control(to(request.getServerRequest())),
              RaftRequests.START_ELECTION,
              request,
              StartLeaderElectionReplyProto.parser())
          .await(settings.requestTimeoutMillis());
    } catch (IOException e) {
      log.info("{} can't stand for leader: {}", to(request.getServerRequest()), e.toString());
      return StartLeaderElectionReplyProto.newBuilder()
          .setServerReply(RaftRpcReplyProto.newBuilder().setSuccess(false))
          .build();
    }
  }

  @Override
  public CompletableFuture<ReadIndexReplyProto> readIndexAsync(ReadIndexRequestProto request)
      throws IOException {
    return RaftCall.send(
            control(to(request.getServerRequest())),
            RaftRequests.READ_INDEX,
            request,
            ReadIndexReplyProto.parser())
        .reply();
  }

  /** Asks a peer whether it would vote early. */
  CompletableFuture<Boolean> ask(RaftPeerId peer, EarlyQuestion question) {
    return ask(peer, RaftRequests.EARLY_PRE_VOTE, question.encode());
  }

  /** Asks a leader whether it is still handing over to this node. */
  CompletableFuture<Boolean> ask(RaftPeerId peer, HandOver.Question question) {
    return ask(peer, RaftRequests.HAND_OVER, question.encode())
        .completeOnTimeout(false, settings.requestTimeoutMillis(), TimeUnit.MILLISECONDS);
  }

  /** No answer is a no. */
  private CompletableFuture<Boolean> ask(RaftPeerId peer, byte kind, ByteBuf question) {
    FutureResponse<Boolean> answer =
        new FutureResponse<>(body -> body.isReadable() && body.readByte() == 1);
    try {
      control(peer).send(kind, question, answer);
    } catch (IOException e) {
      question.release();
      answer.complete(false);
    }
    return answer.exceptionally(failure -> false);
  }

  private static RaftPeerId to(RaftRpcRequestProto header) {
    return RaftPeerId.valueOf(header.getReplyId());
  }

  static RaftGroupId group(RaftRpcRequestProto header) {
    return ProtoUtils.toRaftGroupId(header.getRaftGroupId());
  }

  @Override
  public RaftServerAsynchronousProtocol async() {
    return this;
  }

  /** Nothing to do: a link connects again when it is used. */
  @Override
  public void handleException(RaftPeerId peer, Exception e, boolean reconnect) {}

  @Override
  public InetSocketAddress getInetSocketAddress() {
    return transport.address();
  }

  @Override
  public RpcType getRpcType() {
    return type;
  }

  RaftRequests requests() {
    return requests;
  }
}
