// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.InDoubtCommits;
import io.isolde.oracle.configuration.Configuration;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.AnswerCodec;
import io.isolde.oracle.replica.Bytes;
import io.isolde.oracle.replica.Command;
import io.isolde.oracle.replica.CommandCodec;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import io.isolde.raft.Peer;
import io.isolde.raft.transport.NodeConnections;
import io.netty.buffer.ByteBuf;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Asks whoever leads the oracle. A request may get no answer, because the leader is gone or no
 * longer leads. The client then sends it to the next leader, until its time is over: all requests
 * may be repeated.
 *
 * <p>A snapshot that this tells of has no commit below it that is not applied, but for those that
 * {@link #inDoubt()} has by then.
 *
 * <p>Thread-safe. Futures are completed on event loops: their callbacks must not block. They fail
 * with a {@link GroupFailure}.
 */
public final class OracleClient implements AutoCloseable {
  /** Longer than a leader takes for a change of members, or gives up. */
  static final long CHANGE_MILLIS = 30_000;

  /** The leader's own bound, {@link MemberChanges}, and a look for another leader. */
  static final long HAND_OVER_MILLIS = 12_000;

  /** What is applied is in the log a moment later. */
  private static final long LOOK_AGAIN_MILLIS = 50;

  private final OracleClientConfig config;
  private final LeaderRequests requests;
  private final ConfigurationReads configuration = new ConfigurationReads(this::askConfiguration);
  private final KnownInDoubt inDoubt = new KnownInDoubt(this::askInDoubt);
  private volatile Function<UUID, Optional<Stable>> here = transactionId -> Optional.empty();

  /**
   * @param connector opens connections
   * @param members some of the members, or nodes that know them
   */
  public OracleClient(
      OracleClientConfig config,
      NodeConnections.Connector connector,
      Collection<InetSocketAddress> members) {
    this.config = config;
    this.requests = new LeaderRequests(config, connector, members);
  }

  /**
   * Whom to ask who leads, when none of the members that are known has told for two seconds.
   *
   * @param others must not block; 32 of them are asked at most
   */
  public void alsoAsk(Supplier<? extends Collection<InetSocketAddress>> others) {
    requests.alsoAsk(others);
  }

  /** The members, as the last leader that was found had them; empty if none was. */
  public List<Peer> members() {
    return requests.members();
  }

  /**
   * Who is asked for a start timestamp before the leader, on the thread of who wants one: the
   * member of this node, which may be the leader.
   *
   * @param member gets the transaction's id, or null if it can't be decided; empty if it can't tell
   */
  public void beginHere(Function<UUID, Optional<Stable>> member) {
    here = member;
  }

  /** Asks for a start timestamp: at or above all that anybody was told to be committed by now. */
  public CompletableFuture<Long> begin() {
    return start(null, () -> Wire.of(Protocol.BEGIN));
  }

  private CompletableFuture<Long> start(UUID transactionId, Supplier<ByteBuf> request) {
    Optional<Stable> now;
    try {
      now = here.apply(transactionId);
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e); // Who asks has noted that he does.
    }
    return now.map(CompletableFuture::completedFuture)
        .orElseGet(() -> ask(request.get(), Stable::read).answer())
        .thenCompose(this::known);
  }

  /** As {@link #begin()}, for a transaction that may be decided already; empty if it is. */
  public CompletableFuture<OptionalLong> begin(UUID transactionId) {
    return start(transactionId, () -> beginUndecided(transactionId))
        .thenApply(
            start -> start == Protocol.DECIDED ? OptionalLong.empty() : OptionalLong.of(start));
  }

  private static ByteBuf beginUndecided(UUID transactionId) {
    ByteBuf body = Wire.of(Protocol.BEGIN_UNDECIDED);
    Wire.write(body, transactionId);
    return body;
  }

  /** Has a command carried out; the answer is durable. */
  public CompletableFuture<Answer> execute(Command command) {
    return ask(Protocol.EXECUTE, command, OracleClient::answer).answer();
  }

  /**
   * Asks for a commit; for those who must know how often it was sent.
   *
   * @param isToBeApplied whether the leader is to apply it, too, if it has the time
   */
  Outstanding<Carried> ask(Command.Commit commit, boolean isToBeApplied) {
    return isToBeApplied
        ? ask(Protocol.EXECUTE_AND_APPLY, commit, OracleClient::carried)
        : ask(Protocol.EXECUTE, commit, result -> new Carried(answer(result), Optional.empty()));
  }

  private static Carried carried(ByteBuf result) {
    Optional<Stable> applied = Optional.of(Stable.read(result));
    return new Carried(answer(result), applied.filter(stable -> !stable.equals(Stable.NOT_KNOWN)));
  }

  private static Answer answer(ByteBuf result) {
    return AnswerCodec.decode(Wire.rest(result));
  }

  private <T> Outstanding<T> ask(byte kind, Command command, Function<ByteBuf, T> decode) {
    Bytes bytes = new Bytes(1 + CommandCodec.expectedBytes(command)).put(kind);
    CommandCodec.encode(command, bytes);
    return requests.ask(bytes.toArray(), decode, config.timeoutMillis());
  }

  /**
   * Tells that a commit is applied. The log learns it a little later: a leader that comes before
   * that must be told again, with {@link #renew}.
   *
   * @return completes with what is stable, once that includes the commit
   */
  public CompletableFuture<Long> applied(long commitTimestamp) {
    return applied(Protocol.APPLIED, commitTimestamp);
  }

  /** As {@link #applied}, but completes only when the log knows it, too. */
  public CompletableFuture<Long> logApplied(long commitTimestamp) {
    return applied(Protocol.LOG_APPLIED, commitTimestamp);
  }

  private CompletableFuture<Long> applied(byte kind, long commitTimestamp) {
    long deadline = LeaderRequests.deadline(config.timeoutMillis());
    return ask(Wire.of(kind, commitTimestamp), Stable::read)
        .answer()
        .thenCompose(this::known)
        .thenCompose(stable -> orAwait(stable, commitTimestamp, deadline));
  }

  /** Completes with what is stable, once that is at or above the timestamp. */
  public CompletableFuture<Long> awaitStable(long timestamp) {
    return awaitStable(timestamp, LeaderRequests.deadline(config.timeoutMillis()));
  }

  /** As {@link #awaitStable(long)}, for what the log says is stable. */
  public CompletableFuture<Long> awaitLogged(long timestamp) {
    return awaitLogged(timestamp, LeaderRequests.deadline(config.timeoutMillis()));
  }

  private CompletableFuture<Long> awaitLogged(long timestamp, long deadlineNanos) {
    return ask(Wire.of(Protocol.LOGGED), Stable::read)
        .answer()
        .thenCompose(this::known)
        .thenCompose(
            stable ->
                stable >= timestamp || System.nanoTime() - deadlineNanos >= 0
                    ? reached(stable, timestamp)
                    : new CompletableFuture<Void>()
                        .completeOnTimeout(null, LOOK_AGAIN_MILLIS, TimeUnit.MILLISECONDS)
                        .thenCompose(later -> awaitLogged(timestamp, deadlineNanos)));
  }

  private CompletableFuture<Long> awaitStable(long timestamp, long deadlineNanos) {
    return ask(Wire.of(Protocol.AWAIT_STABLE, timestamp), Stable::read)
        .answer()
        .thenCompose(this::known)
        .thenCompose(stable -> orAwait(stable, timestamp, deadlineNanos));
  }

  /** The leader lets nobody wait for long; whoever wants more asks again. */
  private CompletableFuture<Long> orAwait(long stable, long timestamp, long deadlineNanos) {
    boolean isOver = stable >= timestamp || System.nanoTime() - deadlineNanos >= 0;
    return isOver ? reached(stable, timestamp) : awaitStable(timestamp, deadlineNanos);
  }

  private static CompletableFuture<Long> reached(long stable, long timestamp) {
    return stable >= timestamp
        ? CompletableFuture.completedFuture(stable)
        : GroupFailure.future(
            Reason.TIMED_OUT_UNKNOWN,
            "The timestamp " + timestamp + " is not stable yet; " + stable + " is.");
  }

  /** See {@link LeaderRequests#onLeaderFound}; a client serves one session. */
  void onLeaderFound(Runnable action) {
    requests.onLeaderFound(action);
  }

  /**
   * Renews the lease of a session; see {@link CoordinatorSession}.
   *
   * @param applied commits that are applied, though the log may not know it
   */
  public CompletableFuture<RenewedLease> renew(long session, long oldestStart, List<Long> applied) {
    ByteBuf body = Wire.of(Protocol.RENEW, session).writeLong(oldestStart);
    return ask(Wire.write(body, applied), RenewedLease::read)
        .answer()
        .thenCompose(renewed -> known(renewed.stable()).thenApply(stable -> renewed));
  }

  /** How a transaction was decided; empty if it is not decided, or that is forgotten. */
  public CompletableFuture<Optional<Answer.Ended>> outcome(UUID transactionId) {
    ByteBuf body = Wire.of(Protocol.OUTCOME);
    Wire.write(body, transactionId);
    return ask(
            body,
            result ->
                result.readBoolean()
                    ? Optional.of((Answer.Ended) AnswerCodec.decode(Wire.rest(result)))
                    : Optional.<Answer.Ended>empty())
        .answer();
  }

  /**
   * The commits in doubt, as far as this client has heard: at least of all that are at or below a
   * snapshot that it has told of, and are not applied.
   */
  public InDoubtCommits inDoubt() {
    return inDoubt.set();
  }

  /** Asks for {@link #inDoubt()} as it is now; whoever asks meanwhile gets the same answer. */
  public CompletableFuture<InDoubtCommits> latestInDoubt() {
    return inDoubt.refresh();
  }

  /** Nobody gets to see a snapshot before it is known what is in doubt in it. */
  CompletableFuture<Long> known(Stable stable) {
    return inDoubt.await(stable.epoch()).thenApply(set -> stable.timestamp());
  }

  private CompletableFuture<Optional<InDoubtCommits>> askInDoubt(long have, long need) {
    ByteBuf body = Wire.of(Protocol.IN_DOUBT, have).writeLong(need);
    return ask(body, InDoubtMessage::read).answer();
  }

  /** Asks for the next writes that a node may have lost when it died. */
  public CompletableFuture<LostWrites.Page> lostWrites(LostWrites.Question question) {
    return ask(question.writeTo(Wire.of(Protocol.LOST_WRITES)), LostWrites.Page::read).answer();
  }

  /** The configuration as it is at a moment after the call. */
  public CompletableFuture<Configuration> configuration() {
    return configuration.all();
  }

  /** The changes after a version, up to a moment after the call. */
  public CompletableFuture<ConfigurationChanges> configurationChanges(long after) {
    return configuration.changesAfter(after);
  }

  private <T> CompletableFuture<T> askConfiguration(
      ConfigurationQuestion question, Function<ByteBuf, T> decode) {
    return ask(question.writeTo(Wire.of(Protocol.CONFIGURATION)), decode).answer();
  }

  /** What the leader says of the group. */
  public CompletableFuture<OracleStatus> status() {
    return ask(Wire.of(Protocol.STATUS), OracleStatus::read).answer();
  }

  /** Has the leader change the members, or hand over. */
  public CompletableFuture<Void> change(MemberChange change) {
    ByteBuf body = change.writeTo(Wire.of(Protocol.CHANGE));
    long timeoutMillis = change.kind() == MemberChange.Kind.LEAD ? HAND_OVER_MILLIS : CHANGE_MILLIS;
    return ask(body, result -> (Void) null, timeoutMillis).answer();
  }

  /** Requests that have no answer yet. */
  public int outstanding() {
    return requests.outstanding();
  }

  /** Where the leader is, if that is known. */
  public Optional<InetSocketAddress> leader() {
    return requests.leader();
  }

  private <T> Outstanding<T> ask(ByteBuf body, Function<ByteBuf, T> decode) {
    return ask(body, decode, config.timeoutMillis());
  }

  private <T> Outstanding<T> ask(ByteBuf body, Function<ByteBuf, T> decode, long timeoutMillis) {
    byte[] bytes = Wire.bytes(body);
    body.release();
    return requests.ask(bytes, decode, timeoutMillis);
  }

  @Override
  public void close() {
    requests.close();
  }
}
