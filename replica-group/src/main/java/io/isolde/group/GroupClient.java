// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.Daemons;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import io.isolde.raft.Peer;
import io.isolde.raft.transport.NodeConnections;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.security.SecureRandom;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * Brings requests to the leaders of groups, wherever these are: here without a detour, to other
 * nodes over a connection that all requests share. Until the deadline it looks for the leader and
 * sends again what got no answer; a write has a name, so that it is applied once. Why the oracle's
 * client is another one is said at its {@code LeaderRequests}.
 */
public final class GroupClient implements AutoCloseable {
  /** A leader that has not answered for so long is perhaps none any more. */
  private static final long ATTEMPT_MILLIS = 1_000;

  private static final long PAUSE_MILLIS = 10;

  /** A leader that flushes for longer than this, before it is copied, is asked again. */
  private static final long FLUSH_MILLIS = 60_000;

  /** For a change of leaders that was asked for; below what an attempt may take. */
  static final long LEAD_MILLIS = 800;

  /** A group, and where it was founded. */
  public record Target(UUID group, List<Peer> members) {}

  private final GroupServer server;
  private final Requests requests;
  private final long timeoutMillis;

  /** Odd; that of processes that start at once must differ. */
  private final long session = new SecureRandom().nextLong() | 1;

  private final NodeConnections connections;
  private final Map<UUID, RequestNumbers> numbers = new ConcurrentHashMap<>();
  private final Map<UUID, Peer> leaders = new ConcurrentHashMap<>();
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(Daemons.named("isolde-group-client"));
  private volatile boolean isClosed;

  GroupClient(
      GroupServer server, NodeConnections connections, Requests requests, long timeoutMillis) {
    this.server = server;
    this.connections = connections;
    this.requests = requests;
    this.timeoutMillis = timeoutMillis;
  }

  /**
   * What is asked of a leader. Hears in each attempt whether one before it had no answer.
   *
   * @param here where it is this node
   * @param message for another node; one for each attempt
   */
  private record Question(
      BiFunction<ReplicaGroup, Boolean, CompletableFuture<byte[]>> here,
      Function<Boolean, ByteBuf> message) {}

  /** As the other one, for a write that only this node knows of. */
  public CompletableFuture<Long> write(
      Target target, int[] keyHashes, byte[] payload, Object decoded) {
    return write(target, Optional.empty(), keyHashes, payload, decoded);
  }

  /**
   * Writes to a group; completes with the timestamp. Fails with a {@link GroupFailure}.
   *
   * @param name the client's; it may send the same write through other nodes
   * @param payload see {@link Write}
   */
  public CompletableFuture<Long> write(
      Target target, Optional<RequestId> name, int[] keyHashes, byte[] payload, Object decoded) {
    return numbered(
            target,
            name,
            id -> {
              Write write = new Write(id, keyHashes, payload, decoded);
              int bytes = payload.length + 32 + 4 * keyHashes.length;
              return new Question(
                  (group, again) -> group.write(write).thenApply(GroupClient::bytes),
                  again -> {
                    ByteBuf out = GroupMessages.request(GroupMessages.WRITE, target.group(), bytes);
                    GroupMessages.write(out, id);
                    GroupMessages.write(out, keyHashes);
                    return out.writeBytes(payload);
                  });
            })
        .thenApply(bytes -> Unpooled.wrappedBuffer(bytes).readLong());
  }

  private static byte[] bytes(long number) {
    return java.nio.ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }

  /** Has the leader decide and write; see {@link Requests#decide}. */
  public CompletableFuture<byte[]> decide(Target target, byte[] request) {
    return numbered(
        target,
        Optional.empty(),
        id ->
            new Question(
                (group, again) -> requests.decide(group, id, again, request),
                again -> {
                  byte what = again ? GroupMessages.DECIDE_AGAIN : GroupMessages.DECIDE;
                  ByteBuf out = GroupMessages.request(what, target.group(), request.length + 24);
                  GroupMessages.write(out, id);
                  return out.writeBytes(request);
                }));
  }

  private CompletableFuture<byte[]> numbered(
      Target target, Optional<RequestId> name, Function<RequestId, Question> request) {
    if (name.isPresent()) {
      return start(target, true, request.apply(name.get()));
    }
    RequestNumbers open =
        numbers.computeIfAbsent(target.group(), group -> new RequestNumbers(session));
    RequestId id = open.next();
    return start(target, true, request.apply(id)).whenComplete((done, failure) -> open.done(id));
  }

  /**
   * Completes with this node's replica if it leads, as soon as its barrier is passed; else with
   * null, at once.
   */
  public CompletableFuture<ReplicaGroup> leadingHere(Target target) {
    ReplicaGroup group = server.group(target.group()).orElse(null);
    if (group == null || !group.isLeader()) {
      return CompletableFuture.completedFuture(null);
    }
    return group.barrier().handle((leads, failure) -> failure == null ? group : null);
  }

  /** Who led when last heard of; empty if this node does, or nobody is known to. */
  public Optional<Peer> leaderElsewhere(Target target) {
    ReplicaGroup here = server.group(target.group()).orElse(null);
    return here != null && here.isLeader()
        ? Optional.empty()
        : Optional.ofNullable(leaders.get(target.group()));
  }

  /** Has the leader read; see {@link Requests#read}. */
  public CompletableFuture<byte[]> read(Target target, byte[] request) {
    return start(
        target,
        false,
        new Question(
            (group, again) -> group.barrier().thenCompose(leads -> requests.read(group, request)),
            again ->
                GroupMessages.request(GroupMessages.READ, target.group(), request.length)
                    .writeBytes(request)));
  }

  /**
   * Has one member read, whether it leads or not; see {@link Requests#readMember}. It is asked
   * once. Fails with a {@link GroupFailure}, also if it belongs to a build that does not know this.
   */
  public CompletableFuture<byte[]> readMember(UUID group, Peer member, byte[] request) {
    return MemberQuestions.read(connections, group, member, request);
  }

  /** Who may have a replica of a group, as far as this node knows, which may be one of them. */
  public List<Peer> members(Target target) {
    return members(server.group(target.group()).orElse(null), target);
  }

  /** This node's replica may be as old as its last day as a member, and so may the layout. */
  private static List<Peer> members(ReplicaGroup here, Target target) {
    Set<Peer> members = new LinkedHashSet<>(here == null ? List.of() : here.members());
    members.addAll(target.members());
    return List.copyOf(members);
  }

  /**
   * Has a member lead; completes when it does. Fails with a {@link GroupFailure}, {@code REFUSED}
   * if it is no member.
   *
   * @param host the member's address
   */
  public CompletableFuture<Void> lead(Target target, String host) {
    ByteBuf message = GroupMessages.request(GroupMessages.LEAD, target.group(), 64);
    GroupMessages.text(message, host);
    return send(
            target,
            group -> group.letLead(host, LEAD_MILLIS).thenApply(done -> new byte[0]),
            message)
        .thenApply(done -> null);
  }

  /**
   * As {@link #lead}, for a member that is not where leaders are wanted: for ten minutes nothing
   * but an election or the operator takes the group from it.
   */
  public CompletableFuture<Void> leadAndStay(Target target, String host) {
    Peer member =
        target.members().stream()
            .filter(peer -> host.equals(peer.address().getHostString()))
            .findFirst()
            .orElseThrow();
    return MemberQuestions.stay(connections, target.group(), member, ATTEMPT_MILLIS)
        .thenCompose(stays -> lead(target, host));
  }

  /**
   * Asks the leader.
   *
   * @param here what it does if it is this node
   * @param message for another node; is taken over
   */
  CompletableFuture<byte[]> send(
      Target target, Function<ReplicaGroup, CompletableFuture<byte[]>> here, ByteBuf message) {
    byte[] bytes = GroupMessages.rest(message);
    message.release();
    return start(
        target,
        false,
        new Question((group, again) -> here.apply(group), again -> Unpooled.wrappedBuffer(bytes)));
  }

  /** How far a group's leader is, as soon as all of that is durable in its storage. */
  CompletableFuture<Checkpoint> state(UUID group, Peer leader) {
    CompletableFuture<byte[]> answer =
        GroupMessages.ask(
            connections, leader, GroupMessages.request(GroupMessages.STATE, group, 0));
    return answer.orTimeout(FLUSH_MILLIS, TimeUnit.MILLISECONDS).thenApply(Checkpoint::ofBytes);
  }

  /** What another member of a group is busy with. */
  public CompletableFuture<MemberLoad> load(ReplicaGroup group, Peer member) {
    return GroupMessages.ask(
            connections, member, GroupMessages.request(GroupMessages.LOAD, group.id(), 0))
        .thenApply(Unpooled::wrappedBuffer)
        .thenApply(
            answer -> {
              NodeLoad load = NodeLoad.read(answer);
              long behind = Math.max(0, group.appliedIndex() - answer.readLong());
              return new MemberLoad(member.id(), load, behind);
            });
  }

  /** How a member of a group is doing, which may be this node. */
  public CompletableFuture<ReplicaStatus> status(UUID group, Peer member) {
    return GroupMessages.ask(
            connections, member, GroupMessages.request(GroupMessages.STATUS, group, 0))
        .thenApply(Unpooled::wrappedBuffer)
        .thenApply(ReplicaStatus::read);
  }

  private CompletableFuture<byte[]> start(Target target, boolean isWrite, Question question) {
    Search search = new Search(target, isWrite, question);
    search.tryNext();
    return search.answer;
  }

  /** One request on its way to whoever leads. Its attempts come one after the other. */
  private final class Search {
    private final Target target;
    private final boolean isWrite;
    private final Question question;
    private final CompletableFuture<byte[]> answer = new CompletableFuture<>();
    private final long deadlineNanos =
        System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    private boolean mayBeDone;
    private final MemberSearch rounds = new MemberSearch();
    private GroupFailure last = GroupFailure.notLeader(Optional.empty());

    private Search(Target target, boolean isWrite, Question question) {
      this.target = target;
      this.isWrite = isWrite;
      this.question = question;
    }

    private void tryNext() {
      long leftMillis = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
      if (leftMillis <= 0 || isClosed) {
        giveUp();
        return;
      }
      ReplicaGroup here = server.group(target.group()).orElse(null);
      if (here != null
          && !here.isLeader()
          && rounds.isToLook(
              known(here).filter(this::isAnother), hinted().filter(this::isAnother))) {
        later(MemberSearch.LOOK_MILLIS);
        return;
      }
      CompletableFuture<byte[]> tried;
      Peer asked = null;
      if (here != null && here.isLeader()) {
        tried = question.here().apply(here, mayBeDone);
      } else {
        asked = rounds.next(known(here), hinted(), members(here, target));
        tried = GroupMessages.ask(connections, asked, question.message().apply(mayBeDone));
      }
      Peer to = asked;
      if (!tried.isDone()) {
        long waitMillis = Math.min(leftMillis, ATTEMPT_MILLIS);
        tried = BoundedAnswer.bounded(tried, to, () -> known(here), waitMillis, timer);
      }
      var unused = tried.whenComplete((bytes, failure) -> tried(to, bytes, failure));
    }

    private static Optional<Peer> known(ReplicaGroup here) {
      return here == null ? Optional.empty() : here.leader();
    }

    /** This node is to lead, and is not ready yet: it need not ask itself. */
    private boolean isAnother(Peer peer) {
      return !peer.id().equals(server.self());
    }

    private Optional<Peer> hinted() {
      return Optional.ofNullable(leaders.get(target.group()));
    }

    private void tried(Peer asked, byte[] bytes, Throwable failure) {
      if (failure == null) {
        if (asked != null) {
          leaders.put(target.group(), asked);
        }
        answer.complete(bytes);
        return;
      }
      last = GroupFailure.of(failure);
      switch (last.reason()) {
        case REFUSED, OVERLOADED -> refused(last);
        case TIMED_OUT_UNKNOWN -> answer.completeExceptionally(last); // It will never be known.
        case NOT_LEADER -> {
          leaders.remove(target.group());
          Optional<Peer> hint = last.leader();
          boolean isNewer = hint.isPresent() && !hint.get().equals(asked) && rounds.attempts() <= 3;
          hint.ifPresent(peer -> leaders.put(target.group(), peer));
          later(isNewer ? 0 : PAUSE_MILLIS);
        }
        default -> {
          mayBeDone = true;
          leaders.remove(target.group());
          last.leader().ifPresent(peer -> leaders.put(target.group(), peer));
          later(PAUSE_MILLIS);
        }
      }
    }

    /** Another attempt may have got through before, and "nothing was done" be wrong. */
    private void refused(GroupFailure failure) {
      if (!isWrite || !mayBeDone) {
        answer.completeExceptionally(failure);
      } else if (failure.reason() == Reason.OVERLOADED) {
        later(PAUSE_MILLIS);
      } else {
        answer.completeExceptionally(
            new GroupFailure(
                Reason.TIMED_OUT_UNKNOWN,
                "An attempt had no answer, and another one was refused: " + failure.getMessage()));
      }
    }

    private void later(long millis) {
      if (isClosed) {
        giveUp();
      } else {
        var unused = timer.schedule(this::tryNext, millis, TimeUnit.MILLISECONDS);
      }
    }

    private void giveUp() {
      answer.completeExceptionally(
          new GroupFailure(
              isWrite && mayBeDone ? Reason.TIMED_OUT_UNKNOWN : Reason.TIMED_OUT,
              "No leader of the replica group answered in "
                  + timeoutMillis
                  + " ms; last: "
                  + last.getMessage()));
    }
  }

  @Override
  public void close() {
    isClosed = true;
    timer.shutdown();
    connections.close();
  }
}
