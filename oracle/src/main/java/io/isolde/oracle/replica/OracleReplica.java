// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import io.isolde.oracle.Decision;
import io.isolde.oracle.OracleConfig;
import io.isolde.oracle.OracleStatistics;
import io.isolde.oracle.Outcome;
import io.isolde.oracle.PendingCommit;
import io.isolde.oracle.StatusOracle;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * One copy of the replicated oracle: applies the entries of the log, in their order. All copies
 * that have applied the same entries are the same and have given the same answers.
 *
 * <p>Not thread-safe: the caller serialises.
 */
/*
 * Nothing here may depend on anything but the entries: no clock, no setting of this node, no order
 * of a hash map. Bounds come with the first entry of each leader.
 */
public final class OracleReplica {
  /** More than a commit needs, and little against any reservation. */
  private static final long MICROS_PER_COMMAND = 4;

  private StatusOracle oracle;
  private Sessions sessions;
  private OracleConfig config;

  /** A replica that has applied nothing. */
  public OracleReplica() {
    this(OracleConfig.defaults(), new StatusOracle(OracleConfig.defaults(), 0), new Sessions());
  }

  OracleReplica(OracleConfig config, StatusOracle oracle, Sessions sessions) {
    this.config = config;
    this.oracle = oracle;
    this.sessions = sessions;
  }

  /** Applies the next entry of the log and returns an answer to each of its commands. */
  public List<Answer> apply(LogEntry entry) {
    oracle.reserve(Math.max(entry.reserveUntilMicros(), mostThatIsIssued(entry)));
    oracle.advanceTo(entry.floorMicros());
    List<Answer> answers = new ArrayList<>(entry.commands().size());
    for (Command command : entry.commands()) {
      answers.add(apply(command, entry.timeMicros()));
    }
    return answers;
  }

  private long mostThatIsIssued(LogEntry entry) {
    return Math.max(oracle.lastIssued(), entry.timeMicros())
        + MICROS_PER_COMMAND * (entry.commands().size() + 1);
  }

  private Answer apply(Command command, long timeMicros) {
    // In order of how often they come.
    if (command instanceof Command.Commit commit) {
      return commit(commit, timeMicros);
    }
    if (command instanceof Command.Applied applied) {
      return applied(applied.commitTimestamp());
    }
    if (command instanceof Command.Abort abort) {
      return new Answer.Ended(oracle.abort(abort.transactionId()));
    }
    if (command instanceof Command.IssueTimestamp issue) {
      return issue(issue.aboveMicros(), timeMicros);
    }
    if (command instanceof Command.OpenSession open) {
      return openSession(open.coordinator());
    }
    if (command instanceof Command.FenceSession fence) {
      sessions.close(fence.session());
      return Answer.Done.INSTANCE;
    }
    return lead((Command.Lead) command);
  }

  private Answer commit(Command.Commit commit, long timeMicros) {
    Sessions.Session session = sessions.get(commit.session());
    if (session == null) {
      return Answer.Fenced.INSTANCE;
    }
    Decision known = session.recent().get(commit.sequence());
    if (known != null) {
      return new Answer.Decided(known);
    }
    Decision decision = oracle.commitUndecided(commit.request(), commit.session(), timeMicros);
    if (!(decision instanceof Decision.Refused)) {
      session.recent().record(commit.sequence(), decision);
    }
    return new Answer.Decided(decision);
  }

  private Answer applied(long commitTimestamp) {
    if (oracle.isPending(commitTimestamp)) {
      oracle.applied(commitTimestamp);
    }
    return Answer.Done.INSTANCE;
  }

  private Answer issue(long aboveMicros, long timeMicros) {
    oracle.reserve(aboveMicros + MICROS_PER_COMMAND);
    oracle.advanceTo(aboveMicros);
    return new Answer.Issued(oracle.next(timeMicros));
  }

  private Answer openSession(UUID coordinator) {
    sessions.of(coordinator).ifPresent(older -> sessions.close(older.number()));
    return new Answer.SessionOpened(sessions.open(coordinator).number());
  }

  private Answer lead(Command.Lead lead) {
    if (!lead.config().equals(config)) {
      config = lead.config();
      oracle.reconfigure(config);
    }
    // The last leader may have given out start timestamps up to here.
    oracle.advanceTo(oracle.reservedUntil());
    return Answer.Done.INSTANCE;
  }

  /** As {@link StatusOracle#stable()}. */
  public long stable() {
    return oracle.stable();
  }

  /** The largest timestamp that was issued, or passed over. */
  public long last() {
    return oracle.lastIssued();
  }

  /** Up to which the leader may give start timestamps. */
  public long reservedUntil() {
    return oracle.reservedUntil();
  }

  public boolean hasPendingCommits() {
    return oracle.stable() < oracle.lastIssued();
  }

  /** How a transaction was decided, if it was and that is still known. */
  public Optional<Outcome> outcome(UUID transactionId) {
    return oracle.outcome(transactionId);
  }

  /** The sessions that may decide. */
  public List<Long> openSessions() {
    return sessions.numbers();
  }

  /** Whose session it is, if it is open. */
  public Optional<UUID> coordinatorOf(long session) {
    return Optional.ofNullable(sessions.get(session)).map(Sessions.Session::coordinator);
  }

  /**
   * Decided commits that nobody is left to apply, because their coordinator's session was fenced.
   * They hold {@link #stable()} until someone applies them.
   */
  public List<PendingCommit> orphans() {
    return oracle.pendingCommits().stream()
        .filter(commit -> sessions.get(commit.session()) == null)
        .toList();
  }

  public OracleConfig config() {
    return config;
  }

  public OracleStatistics statistics() {
    return oracle.statistics();
  }

  StatusOracle oracle() {
    return oracle;
  }

  Sessions sessions() {
    return sessions;
  }
}
