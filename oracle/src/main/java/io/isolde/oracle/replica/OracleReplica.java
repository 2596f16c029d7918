// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import io.isolde.oracle.Decision;
import io.isolde.oracle.InDoubtCommits;
import io.isolde.oracle.OracleConfig;
import io.isolde.oracle.OracleStatistics;
import io.isolde.oracle.Outcome;
import io.isolde.oracle.PendingCommit;
import io.isolde.oracle.Refusal;
import io.isolde.oracle.StatusOracle;
import io.isolde.oracle.configuration.ConfigurationState;
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

  /** No timestamp is issued above this on request: room for all that are yet to come. */
  static final long LATEST_MICROS = 1L << 60;

  /** Of write sets that are decided and not applied; commits are refused above it. */
  public static final long MAX_PENDING_WRITE_BYTES = 128L << 20;

  /** Until the first leader tells the bounds. */
  private static final OracleConfig NO_BOUNDS_YET = new OracleConfig(1, 1, 1, 1, 0);

  private final StatusOracle oracle;
  private final Sessions sessions;
  private final RequestedAborts requestedAborts;
  private final WriteSets writeSets;
  private final StagedWrites staged;
  private final Unfinished unfinished;
  private final OpenSessions openSessions;
  private final ConfigurationState configuration;
  private final WatchableChanges configurationChanges = new WatchableChanges();
  private OracleConfig config;

  /** How many leaders there have been. */
  private long leaders;

  /** A replica that has applied nothing. */
  public OracleReplica() {
    this(
        NO_BOUNDS_YET,
        new StatusOracle(NO_BOUNDS_YET),
        new Sessions(),
        new RequestedAborts(),
        new WriteSets(),
        new StagedWrites(),
        new ConfigurationState(),
        0);
  }

  OracleReplica(
      OracleConfig config,
      StatusOracle oracle,
      Sessions sessions,
      RequestedAborts requestedAborts,
      WriteSets writeSets,
      StagedWrites staged,
      ConfigurationState configuration,
      long leaders) {
    this.config = config;
    this.oracle = oracle;
    this.sessions = sessions;
    this.requestedAborts = requestedAborts;
    this.writeSets = writeSets;
    this.staged = staged;
    this.unfinished = new Unfinished(oracle, sessions, writeSets);
    this.configuration = configuration;
    this.openSessions = new OpenSessions(sessions, staged, configuration);
    this.leaders = leaders;
  }

  /**
   * Applies the next entry of the log and returns an answer to each of its commands. Whatever they
   * ask for, this does not fail: it would on every replica, and again after each restart.
   */
  public List<Answer> apply(LogEntry entry) {
    long reservedBefore = oracle.reservedUntil();
    oracle.reserve(entry.reserveUntilMicros());
    oracle.advanceTo(entry.floorMicros());
    staged.expire(entry.timeMicros());
    List<Answer> answers = new ArrayList<>(entry.commands().size());
    configurationChanges.clear();
    for (Command command : entry.commands()) {
      oracle.reserve(Math.max(oracle.lastIssued(), entry.timeMicros()) + MICROS_PER_COMMAND);
      answers.add(
          command instanceof Command.Lead lead
              ? lead(lead, reservedBefore)
              : apply(command, entry.timeMicros()));
      configurationChanges.note(configuration, oracle, entry.timeMicros());
    }
    return answers;
  }

  private Answer apply(Command command, long timeMicros) {
    // In order of how often they come.
    if (command instanceof Command.Commit commit) {
      return commit(commit, timeMicros);
    }
    if (command instanceof Command.Applied applied) {
      return applied(applied.commitTimestamp());
    }
    if (command instanceof Command.Stage stage) {
      return stage(stage, timeMicros);
    }
    if (command instanceof Command.Unstage unstage) {
      var unused = staged.take(new StagedWrites.Owner(unstage.session(), unstage.staging()));
      return Answer.Done.INSTANCE;
    }
    if (command instanceof Command.Abort abort) {
      return abort(abort.transactionId(), abort.notBeforeMicros());
    }
    if (command instanceof Command.IssueTimestamp issue) {
      return issue(issue.aboveMicros(), timeMicros);
    }
    if (command instanceof Command.OpenSession open) {
      return openSessions.open(open, timeMicros);
    }
    if (command instanceof Command.DeclareInDoubt inDoubt) {
      oracle.inDoubt(inDoubt.commitTimestamp());
      return Answer.Done.INSTANCE;
    }
    if (command instanceof Command.Configure configure) {
      return openSessions.configure(configure.report(), timeMicros);
    }
    openSessions.fence(((Command.FenceSession) command).session(), timeMicros);
    return Answer.Done.INSTANCE;
  }

  private Answer stage(Command.Stage stage, long timeMicros) {
    return sessions.get(stage.session()) == null
        ? Answer.Fenced.INSTANCE
        : staged.add(stage, MAX_PENDING_WRITE_BYTES - pendingWriteBytes(), timeMicros);
  }

  private Answer commit(Command.Commit commit, long timeMicros) {
    Sessions.Session session = sessions.get(commit.session());
    if (session == null) {
      return afterItsSession(commit, timeMicros);
    }
    if (!session.recent().isInWindow(commit.sequence())) {
      return new Answer.Rejected(Answer.Rejected.Reason.OUT_OF_WINDOW);
    }
    Answer before = session.recent().get(commit.sequence());
    if (before != null) {
      return before;
    }
    Answer answer = firstAnswer(commit, timeMicros);
    session.recent().record(commit.sequence(), answer);
    return answer;
  }

  /** A repetition gets its decision still; what was never decided is not any more. */
  private Answer afterItsSession(Command.Commit commit, long timeMicros) {
    if (!isKnown(commit.request().transactionId())) {
      return Answer.Fenced.INSTANCE;
    }
    return decide(commit, timeMicros) instanceof Answer.Decided decided
            && !(decided.decision() instanceof Decision.Refused)
        ? decided
        : Answer.Fenced.INSTANCE;
  }

  private boolean isKnown(UUID transactionId) {
    return transactionId != null && oracle.outcome(transactionId).isPresent();
  }

  /** To a transaction that its coordinator has no decision of, though it may have been aborted. */
  private Answer firstAnswer(Command.Commit commit, long timeMicros) {
    UUID id = commit.request().transactionId();
    long start = commit.request().startTimestamp();
    if ((start < 0 || start > oracle.lastIssued()) && !isKnown(id)) {
      return new Answer.Rejected(Answer.Rejected.Reason.NO_SUCH_SNAPSHOT);
    }
    if (id != null && (requestedAborts.contains(id) || requestedAborts.isPerhapsForgotten(start))) {
      oracle.abort(id);
    }
    return decide(commit, timeMicros);
  }

  private Answer decide(Command.Commit commit, long timeMicros) {
    UUID id = commit.request().transactionId();
    boolean isStaged = commit.staged() != null;
    StagedWrites.Owner owner =
        isStaged ? new StagedWrites.Owner(commit.session(), commit.staged().id()) : null;
    if (!isKnown(id)) {
      if (isStaged && !staged.has(owner, commit.staged().parts())) {
        return new Answer.Rejected(Answer.Rejected.Reason.PARTS_MISSING);
      }
      if (pendingWriteBytes() + commit.writeSet().length > MAX_PENDING_WRITE_BYTES) {
        return new Answer.Decided(new Decision.Refused(Refusal.TOO_MANY_PENDING));
      }
    }
    Decision decision =
        oracle.commit(commit.request(), commit.session(), commit.sequence(), timeMicros, isStaged);
    boolean mayBeAskedAgain = decision instanceof Decision.Refused;
    List<byte[]> parts =
        isStaged && !mayBeAskedAgain ? staged.take(owner) : partsOf(commit.writeSet());
    if (decision instanceof Decision.Committed committed) {
      keepWrites(committed, parts);
    }
    return new Answer.Decided(decision);
  }

  private static List<byte[]> partsOf(byte[] writeSet) {
    return writeSet.length == 0 ? List.of() : List.of(writeSet);
  }

  /** Unless it is a repetition, and so perhaps applied. */
  private void keepWrites(Decision.Committed committed, List<byte[]> parts) {
    long commitTimestamp = committed.commitTimestamp();
    if (oracle.isPending(commitTimestamp) && writeSets.get(commitTimestamp) == null) {
      writeSets.add(commitTimestamp, new WriteSets.WriteSet(committed.applyAfter(), parts));
    }
  }

  private Answer abort(UUID transactionId, long notBeforeMicros) {
    if (isKnown(transactionId)) {
      return new Answer.Ended(oracle.abort(transactionId));
    }
    if (!requestedAborts.contains(transactionId)
        && oracle.isPerhapsForgotten(transactionId, notBeforeMicros)) {
      return new Answer.Rejected(Answer.Rejected.Reason.OUTCOME_FORGOTTEN);
    }
    Outcome outcome = oracle.abort(transactionId);
    if (outcome instanceof Outcome.Aborted) {
      requestedAborts.add(transactionId, oracle.lastIssued());
    }
    return new Answer.Ended(outcome);
  }

  private Answer applied(long commitTimestamp) {
    if (oracle.isPending(commitTimestamp)) {
      oracle.applied(commitTimestamp);
      writeSets.remove(commitTimestamp);
    }
    return Answer.Done.INSTANCE;
  }

  private Answer issue(long aboveMicros, long timeMicros) {
    if (aboveMicros > LATEST_MICROS) {
      return new Answer.Rejected(Answer.Rejected.Reason.TOO_FAR_AHEAD);
    }
    oracle.reserve(aboveMicros + MICROS_PER_COMMAND);
    oracle.advanceTo(aboveMicros);
    return new Answer.Issued(oracle.next(timeMicros));
  }

  /**
   * @param reservedBefore what was reserved by the leaders before this one: they may have given out
   *     start timestamps up to here
   */
  private Answer lead(Command.Lead lead, long reservedBefore) {
    leaders++;
    if (!lead.config().equals(config)) {
      config = lead.config();
      oracle.reconfigure(config);
    }
    oracle.advanceTo(reservedBefore);
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

  /** Whether a commit is decided and, as far as the log knows, not applied. */
  public boolean isPending(long commitTimestamp) {
    return oracle.isPending(commitTimestamp);
  }

  /** The timestamps of those above one, in their order. */
  List<Long> pendingAfter(long timestamp) {
    return oracle.pendingAfter(timestamp);
  }

  /** As {@link StatusOracle#inDoubt()}. */
  public InDoubtCommits inDoubt() {
    return oracle.inDoubt();
  }

  /** As {@link StatusOracle#overdue}. */
  public List<Long> overdue(long upToMicros) {
    return oracle.overdue(upToMicros);
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
   * They hold {@link #stable()} until someone applies them or they are in doubt.
   */
  public List<PendingCommit> orphans() {
    return unfinished.orphans();
  }

  /**
   * What others than its coordinator may finish, in the order of the timestamps: the {@linkplain
   * #orphans() orphans}, and what is in doubt. A coordinator that reaches the oracle need not reach
   * the replicas.
   */
  public List<UnfinishedCommit> unfinished() {
    return unfinished.all();
  }

  public OracleConfig config() {
    return config;
  }

  public OracleStatistics statistics() {
    return oracle.statistics();
  }

  /** The ring, the replica groups and their leaders. Not to be changed. */
  public ConfigurationState configuration() {
    return configuration;
  }

  /** What the last entry has changed of it. */
  public List<RecentChanges.Change> configurationChanges() {
    return configurationChanges.all();
  }

  /** How many leaders' first entries were applied. */
  long leaders() {
    return leaders;
  }

  RequestedAborts requestedAborts() {
    return requestedAborts;
  }

  /** What the writes take that are decided and not applied, or staged and not decided. */
  public long pendingWriteBytes() {
    return writeSets.bytes() + staged.bytes();
  }

  /** Whether parts of the same writes are here. */
  public boolean hasStaged(Command.Stage part) {
    return staged.contains(new StagedWrites.Owner(part.session(), part.staging()), 0);
  }

  StagedWrites staged() {
    return staged;
  }

  WriteSets writeSets() {
    return writeSets;
  }

  StatusOracle oracle() {
    return oracle;
  }

  Sessions sessions() {
    return sessions;
  }
}
