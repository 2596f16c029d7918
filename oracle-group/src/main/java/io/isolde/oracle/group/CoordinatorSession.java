// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Decision;
import io.isolde.oracle.InDoubtCommits;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import io.isolde.raft.Daemons;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import io.isolde.raft.transport.LogLimit;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A coordinator's standing with the oracle: it may decide transactions for as long as it renews its
 * lease. One that was silent for too long gets a new session by itself.
 *
 * <p>Thread-safe. Futures fail with {@link GroupFailure}.
 */
public final class CoordinatorSession implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(CoordinatorSession.class);
  private final LogLimit logLimit = new LogLimit();
  static final int RENEWALS_PER_LEASE = 10;
  private static final long NOT_OPEN = 0;
  private static final byte[] NOTHING = {};
  private static final int UNSTAGE_ATTEMPTS = 30;
  private static final long UNSTAGE_PAUSE_MILLIS = 2_000;

  private final OracleClient client;
  private final UUID coordinator;
  private final OpenStarts starts = new OpenStarts();
  private final ReportedApplies reported = new ReportedApplies();
  private final ApplyReporter applied;

  /** Of the session; a new one has its own. */
  private volatile Sequences sequences = new Sequences();

  private final ScheduledExecutorService renewals =
      Executors.newSingleThreadScheduledExecutor(Daemons.named("isolde-oracle-lease"));

  private final Generations generations = new Generations();
  private final AtomicLong fencings = new AtomicLong();
  private volatile long session = NOT_OPEN;
  private volatile long lowWatermark;
  private volatile NewestHeard newest = NewestHeard.nothing();
  private volatile boolean isOpening;

  /**
   * Opens a session in the background, and keeps it.
   *
   * @param coordinator the same for all processes that follow one another at one place: the next
   *     one's session ends this one's
   * @param leaseMillis as the members have it
   */
  public CoordinatorSession(OracleClient client, UUID coordinator, long leaseMillis) {
    this.client = client;
    this.coordinator = coordinator;
    this.applied = new ApplyReporter(client, reported, renewals, starts::heard, this::keepSoon);
    client.onLeaderFound(this::keepSoon);
    var unused =
        renewals.scheduleWithFixedDelay(
            this::keep, 0, Math.max(1, leaseMillis / RENEWALS_PER_LEASE), TimeUnit.MILLISECONDS);
  }

  /** Whether it has a session, so that commits can be asked for. */
  public boolean isOpen() {
    return session != NOT_OPEN;
  }

  /** Whose session it is. */
  public UUID coordinator() {
    return coordinator;
  }

  /** How often a session of this process was ended because the oracle had not heard of it. */
  public long fencings() {
    return fencings.get();
  }

  /** Begins a transaction; {@link #ended} must be told its start timestamp in the end. */
  public CompletableFuture<Long> begin() {
    long asked = starts.asking();
    return begun(asked, client.begin().thenApply(OptionalLong::of))
        .thenApply(OptionalLong::orElseThrow);
  }

  /**
   * As {@link #begin()}, for a transaction of which it is not known here whether it is decided.
   *
   * @return empty if it is; then there is nothing to be told that it has ended
   */
  public CompletableFuture<OptionalLong> begin(UUID transactionId) {
    long asked = starts.asking();
    return begun(asked, client.begin(transactionId));
  }

  private CompletableFuture<OptionalLong> begun(
      long asked, CompletableFuture<OptionalLong> answer) {
    return answer.whenComplete(
        (start, error) -> {
          if (error == null && start.isPresent()) {
            starts.replace(asked, start.getAsLong());
          } else {
            starts.close(asked);
          }
        });
  }

  /** A transaction that reads an older snapshot; holds the low watermark from now on. */
  public void beganAt(long snapshot) {
    starts.add(snapshot);
  }

  /** A transaction is over. */
  public void ended(long startTimestamp) {
    starts.close(startTimestamp);
  }

  /**
   * Asks for a decision.
   *
   * @return fails with TIMED_OUT_UNKNOWN or CLOSED if it is not known whether the transaction is
   *     decided, and how; with all other reasons it is not committed
   */
  public CompletableFuture<Decision> commit(CommitRequest request) {
    return commit(request, NOTHING, false).thenApply(Decided::decision);
  }

  /**
   * As {@link #commit(CommitRequest)}.
   *
   * @param writeSet what others need to finish the commit if this coordinator can't
   * @param isToBeApplied whether the oracle's leader is asked to apply it at once; it may leave it
   */
  public CompletableFuture<Decided> commit(
      CommitRequest request, byte[] writeSet, boolean isToBeApplied) {
    return commit(request, writeSet, null, isToBeApplied);
  }

  /**
   * As {@link #commit(CommitRequest)}, of one whose writes were {@linkplain #stage staged}.
   *
   * @return fails with FENCED if the oracle has not all of them: nothing is committed
   */
  public CompletableFuture<Decided> commitStaged(CommitRequest request, Command.Staged staged) {
    return commit(request, NOTHING, staged, false);
  }

  /**
   * Brings a part of the writes of a commit into the oracle's log; see {@link Command.Stage}.
   *
   * @param number from 0; the part before has been answered
   * @return fails with OVERLOADED if there is no room now, with REFUSED if there never will be, and
   *     with FENCED if the parts before are gone; nothing is committed
   */
  public CompletableFuture<Void> stage(UUID staging, int number, int totalBytes, byte[] part) {
    long now = session;
    if (now == NOT_OPEN) {
      return CompletableFuture.failedFuture(noSession());
    }
    return client
        .execute(new Command.Stage(now, staging, number, totalBytes, part))
        .thenAccept(answer -> staged(answer, now));
  }

  /**
   * Makes room again; does not wait. Asks several times: until the oracle drops the parts by itself
   * they keep others out.
   */
  public void unstage(UUID staging) {
    unstage(session, staging, UNSTAGE_ATTEMPTS);
  }

  private void unstage(long ofSession, UUID staging, int attempts) {
    var unused =
        client
            .execute(new Command.Unstage(ofSession, staging))
            .whenComplete(
                (done, failure) -> {
                  if (failure != null && attempts > 1 && session == ofSession) {
                    later(() -> unstage(ofSession, staging, attempts - 1));
                  }
                });
  }

  private void later(Runnable task) {
    try {
      var unused = renewals.schedule(task, UNSTAGE_PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      log.debug("The session is closed", e);
    }
  }

  private void staged(Answer answer, long inSession) {
    if (answer instanceof Answer.Fenced) {
      fenced(inSession);
      throw LateDecision.wasFenced();
    }
    if (answer instanceof Answer.Rejected rejected) {
      throw rejected.reason() == Answer.Rejected.Reason.NO_ROOM_FOR_PARTS
          ? new GroupFailure(Reason.OVERLOADED, "The oracle has no room for more writes now.")
          : partsMissing();
    }
  }

  private static GroupFailure partsMissing() {
    return new GroupFailure(Reason.FENCED, "The oracle has not all parts of the commit's writes.");
  }

  private static GroupFailure noSession() {
    return new GroupFailure(Reason.FENCED, "This coordinator has no session with the oracle yet.");
  }

  private CompletableFuture<Decided> commit(
      CommitRequest request, byte[] writeSet, Command.Staged staged, boolean isToBeApplied) {
    long now = session;
    if (now == NOT_OPEN) {
      return CompletableFuture.failedFuture(noSession());
    }
    // Read after the session: those of a newer session do no harm to the older one, which is over.
    Sequences ofSession = sequences;
    OptionalInt sequence = ofSession.take();
    if (sequence.isEmpty()) {
      return GroupFailure.future(
          Reason.OVERLOADED, "Too many commits have no answer from the oracle yet.");
    }
    Command.Commit commit = new Command.Commit(now, sequence.getAsInt(), request, writeSet, staged);
    Outstanding<Carried> asked = client.ask(commit, isToBeApplied);
    return asked
        .answer()
        .whenComplete(
            (answer, error) -> {
              ofSession.done(sequence.getAsInt());
              if (error instanceof GroupFailure e && e.reason() == Reason.TIMED_OUT_UNKNOWN) {
                giveUp(now, "A commit got no answer: what became of it is left to others.");
              }
            })
        .thenCompose(carried -> decided(carried, commit, asked));
  }

  private CompletableFuture<Decided> decided(
      Carried carried, Command.Commit commit, Outstanding<Carried> asked) {
    Answer answer = carried.answer();
    if (answer instanceof Answer.Decided decided) {
      return CompletableFuture.completedFuture(new Decided(decided.decision(), carried.applied()));
    }
    if (answer instanceof Answer.Rejected rejected
        && rejected.reason() == Answer.Rejected.Reason.PARTS_MISSING) {
      return CompletableFuture.failedFuture(partsMissing());
    }
    if (answer instanceof Answer.Rejected rejected
        && rejected.reason() == Answer.Rejected.Reason.OUT_OF_WINDOW) {
      // Numbers were spent on commits that the log never saw. The next session counts anew.
      giveUp(commit.session(), "Too many commits in a row did not reach its log.");
    }
    if (answer instanceof Answer.Rejected rejected
        && (rejected.reason() == Answer.Rejected.Reason.NO_SUCH_SNAPSHOT || asked.sends() == 1)) {
      return GroupFailure.future(
          Reason.REFUSED, "The oracle rejects the commit: " + rejected.reason() + ".");
    }
    fenced(commit.session());
    if (asked.sends() == 1) {
      return CompletableFuture.failedFuture(LateDecision.wasFenced());
    }
    // An earlier one may have been decided before the session was closed.
    UUID id = commit.request().transactionId();
    if (id == null) {
      return GroupFailure.future(
          Reason.TIMED_OUT_UNKNOWN, "The coordinator was fenced while a commit was under way.");
    }
    return client
        .execute(new Command.Abort(id, commit.request().startTimestamp()))
        .thenCompose(
            ended ->
                LateDecision.isPossible(ended)
                    ? client.ask(commit, false).answer()
                    : CompletableFuture.failedFuture(LateDecision.wasFenced()))
        .thenApply(carriedLate -> Decided.toBeApplied(LateDecision.of(carriedLate.answer())));
  }

  /**
   * Tells that a commit is applied, for as long as it takes.
   *
   * @return completes when the commit is visible to all who begin
   */
  public CompletableFuture<Void> applied(long commitTimestamp) {
    return applied.report(commitTimestamp);
  }

  /**
   * As {@link #applied(long)}, of a commit that the leader knows to be applied: it was told by
   * {@link OracleNode#applied}, or has applied the commit itself.
   *
   * @param stable what was stable there then
   */
  public CompletableFuture<Void> applied(long commitTimestamp, Stable stable) {
    return applied.reported(commitTimestamp, stable);
  }

  /**
   * Completes when every commit up to the timestamp is visible to all who begin, or {@link
   * #inDoubt()}.
   */
  public CompletableFuture<Void> awaitStable(long timestamp) {
    return client.awaitStable(timestamp).thenAccept(starts::heard);
  }

  /**
   * As {@link #awaitStable}, but not before the log knows it: whoever leads next knows it, too, and
   * no commit up to the timestamp is applied again.
   */
  public CompletableFuture<Void> awaitLogged(long timestamp) {
    return client.awaitLogged(timestamp).thenAccept(starts::heard);
  }

  /** A fresh timestamp above this one, and above all in use. */
  public CompletableFuture<Long> issueAbove(long timestamp) {
    return client
        .execute(new Command.IssueTimestamp(timestamp))
        .thenApply(CoordinatorSession::timestampOf);
  }

  private static long timestampOf(Answer answer) {
    if (answer instanceof Answer.Issued issued) {
      return issued.timestampMicros();
    }
    throw new GroupFailure(Reason.REFUSED, "The oracle issues no timestamp so far in the future.");
  }

  /** The newest snapshot that this coordinator has heard of. */
  public long newestStable() {
    return starts.newest();
  }

  /**
   * The commits in doubt, as far as this coordinator has heard. To be asked after any snapshot:
   * then it has all that are at or below that and not applied.
   */
  public InDoubtCommits inDoubt() {
    return client.inDoubt();
  }

  /** No transaction, here or elsewhere, reads below this. Never goes back. */
  public long lowWatermark() {
    return lowWatermark;
  }

  /** The largest timestamp in use that was heard of. */
  public long last() {
    return newest.timestamp();
  }

  /**
   * A timestamp at or above all that were given out before that moment of {@link System#nanoTime};
   * empty until the oracle was asked for it afterwards, and has answered.
   */
  public OptionalLong lastAskedAfter(long nanoTime) {
    return newest.askedAfter(nanoTime);
  }

  private void keep() {
    try {
      keepOrOpen();
    } catch (RuntimeException e) {
      // A scheduled task that throws would be the last.
      log.error("The lease of this coordinator could not be renewed; trying again", e);
    }
  }

  private void keepOrOpen() {
    long now = session;
    if (now == NOT_OPEN) {
      open();
      return;
    }
    List<Long> repeated = reported.all();
    long askedNanos = System.nanoTime();
    var unused =
        client
            .renew(now, starts.oldest(), repeated)
            .whenComplete(
                (renewed, error) -> {
                  if (error == null) {
                    reported.heard(repeated, renewed.unlogged());
                    heard(renewed, now, askedNanos);
                  }
                });
  }

  private void heard(RenewedLease renewed, long inSession, long askedNanos) {
    starts.heard(renewed.stable().timestamp());
    synchronized (this) {
      lowWatermark = Math.max(lowWatermark, renewed.lowWatermark());
      newest = newest.and(renewed.last(), askedNanos, renewed.isProven());
    }
    if (!renewed.isOpen()) {
      fenced(inSession);
    }
  }

  /**
   * With the next session this one ends, and what was decided in it is finished by others. So it is
   * if a commit has no answer: nobody here knows whether it must be applied, and until somebody
   * does, nobody sees anything newer.
   */
  private synchronized void giveUp(long inSession, String why) {
    if (session == inSession) {
      if (logLimit.allows("given up")) {
        log.warn("This coordinator opens another session with the oracle. {}", why);
      }
      session = NOT_OPEN;
      keepSoon();
    }
  }

  private synchronized void fenced(long inSession) {
    if (session == inSession) {
      if (logLimit.allows("fenced")) {
        log.warn(
            "This coordinator was fenced: the oracle has not heard of it for its lease. Commits"
                + " that were under way may have failed.");
      }
      session = NOT_OPEN;
      keepSoon();
      fencings.incrementAndGet();
    }
  }

  private void open() {
    if (isOpening) {
      return;
    }
    isOpening = true;
    var unused =
        client
            .execute(new Command.OpenSession(coordinator, generations.next()))
            .whenComplete(
                (answer, error) -> {
                  try {
                    if (error == null) {
                      opened(answer);
                    }
                  } finally {
                    isOpening = false; // Last: who finds no session would open another one.
                  }
                  if (session != NOT_OPEN) {
                    // Until the leader knows how far back we read, it takes that for very far.
                    keepSoon();
                  }
                });
  }

  private void keepSoon() {
    try {
      renewals.execute(this::keep);
    } catch (RejectedExecutionException e) {
      log.debug("The session is closed", e);
    }
  }

  private void opened(Answer answer) {
    if (answer instanceof Answer.SessionOpened opened) {
      sequences = new Sequences();
      session = opened.session();
    } else {
      if (logLimit.allows("other process")) {
        log.error(
            "Another process is coordinator {}, and started later: this one gets no session. Two"
                + " nodes must not have the same host id.",
            coordinator);
      }
    }
  }

  /** Lets the session end by its lease; what is decided and not applied is left to others. */
  @Override
  public void close() {
    renewals.shutdownNow();
  }
}
