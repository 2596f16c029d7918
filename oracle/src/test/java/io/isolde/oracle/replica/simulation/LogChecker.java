// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import static java.util.stream.Collectors.toSet;

import io.isolde.oracle.Conflict;
import io.isolde.oracle.Decision;
import io.isolde.oracle.InDoubtCommits;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.OracleConfig;
import io.isolde.oracle.Refusal;
import io.isolde.oracle.SerializationGraph.Committed;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import io.isolde.oracle.replica.UnfinishedCommit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;

/** A model of what the log decides, that forgets nothing. */
final class LogChecker {
  static final long UNDECIDED = 0;

  record Key(long session, int sequence) {}

  private final World world;
  private final Checker checker;
  private final Map<Key, Transaction> requests = new HashMap<>();
  private final Map<Key, Answer> answers = new HashMap<>();
  private final Map<UUID, Transaction> byId = new HashMap<>();
  private final Map<Transaction, Long> commits = new HashMap<>();
  private final Map<Long, TreeSet<Long>> commitsByRow = new HashMap<>();
  private final TreeMap<Long, Transaction> pending = new TreeMap<>();
  private final Set<Long> inDoubt = new TreeSet<>();

  /** Those whose writes were staged, applied or not. */
  private final Map<Long, Transaction> inParts = new HashMap<>();

  private long epoch;
  private final Map<UUID, Long> sessions = new HashMap<>();
  private final Set<Long> open = new HashSet<>();
  private final List<Committed> history = new ArrayList<>();
  private final List<Transaction> readers = new ArrayList<>();
  private OracleConfig config;
  private long lastIssued;
  private long largestStart;

  LogChecker(World world, Checker checker) {
    this.world = world;
    this.checker = checker;
  }

  /** A coordinator is about to send this. */
  void onRequest(long session, int sequence, Transaction transaction) {
    requests.put(new Key(session, sequence), transaction);
    if (transaction.id != null) {
      byId.put(transaction.id, transaction);
    }
  }

  Transaction requestOf(long session, int sequence) {
    return requests.get(new Key(session, sequence));
  }

  void onApplied(List<Command> commands, List<Answer> results) {
    for (int i = 0; i < commands.size(); i++) {
      world.time.remark(checker.applied(), commands.get(i), "->", results.get(i));
      onApplied(commands.get(i), results.get(i));
    }
  }

  private void onApplied(Command command, Answer answer) {
    if (command instanceof Command.Commit commit) {
      onCommit(commit, answer);
    } else if (command instanceof Command.Applied applied) {
      onApplied(applied.commitTimestamp());
    } else if (command instanceof Command.DeclareInDoubt late) {
      if (pending.containsKey(late.commitTimestamp()) && inDoubt.add(late.commitTimestamp())) {
        world.counts.add(Happening.COMMITS_IN_DOUBT);
        epoch++;
      }
    } else if (command instanceof Command.OpenSession opening) {
      onOpenSession(opening.coordinator(), answer);
    } else if (command instanceof Command.FenceSession fence) {
      if (open.remove(fence.session())) {
        world.counts.add(Happening.FENCES);
      }
    } else if (command instanceof Command.Lead lead) {
      world.counts.add(Happening.LEADER_CHANGES);
      if (config != null && !config.equals(lead.config())) {
        world.counts.add(Happening.RECONFIGURATIONS);
      }
      config = lead.config();
    } else if (answer instanceof Answer.Issued issued) {
      onIssued(issued.timestampMicros());
    } else if (command instanceof Command.Abort abort && answer instanceof Answer.Ended ended) {
      checker.onToldOutcome(abort.transactionId(), ended.outcome());
    }
  }

  private void onApplied(long commitTimestamp) {
    pending.remove(commitTimestamp);
    if (inDoubt.remove(commitTimestamp)) {
      world.counts.add(Happening.APPLIED_AFTER_ALL);
      epoch++;
    }
  }

  private void onOpenSession(UUID coordinator, Answer answer) {
    if (answer instanceof Answer.SessionOpened opened) {
      Long before = sessions.put(coordinator, opened.session());
      if (before == null || before != opened.session()) {
        open.remove(before);
        open.add(opened.session());
      }
    }
  }

  private void onCommit(Command.Commit commit, Answer answer) {
    Key key = new Key(commit.session(), commit.sequence());
    Transaction transaction = requests.get(key);
    // That a session is fenced tells nothing of the outcome, which may be known before or after.
    Answer before = answer instanceof Answer.Fenced ? null : answers.putIfAbsent(key, answer);
    if (before != null && !isOutcomeAfterRefusal(commit.session(), before)) {
      Broken.unless(before.equals(answer), "a decision stays", key, before, answer);
      world.counts.add(Happening.ANSWERS_FROM_RECENT_DECISIONS);
    }
    if (answer instanceof Answer.Decided decided) {
      onDecided(commit, transaction, decided.decision());
    } else if (answer instanceof Answer.Fenced) {
      world.counts.add(Happening.ZOMBIES_REFUSED);
      Broken.unless(!isOpen(commit.session()), "only a fenced session is told so", key);
    } else {
      Broken.unless(false, "a proper request is not rejected", commit, answer);
    }
  }

  /**
   * A copy that comes after its session is over is answered with the outcome, if there is one by
   * then: it was asked for again, under another number, or by an abort.
   */
  private boolean isOutcomeAfterRefusal(long session, Answer before) {
    return !isOpen(session)
        && before instanceof Answer.Decided decided
        && decided.decision() instanceof Decision.Refused;
  }

  private void onDecided(Command.Commit commit, Transaction transaction, Decision decision) {
    if (decision instanceof Decision.Committed committed) {
      onCommitted(commit, transaction, committed.commitTimestamp());
    } else if (decision instanceof Decision.Aborted aborted) {
      Broken.unless(commitOf(transaction) == UNDECIDED, "what is committed stays", transaction);
      world.counts.add(happening(aborted.conflict().kind()));
    } else {
      boolean isInDoubt = ((Decision.Refused) decision).reason() == Refusal.IN_DOUBT;
      world.counts.add(isInDoubt ? Happening.REFUSALS_IN_DOUBT : Happening.REFUSALS);
    }
  }

  private static Happening happening(Conflict.Kind kind) {
    return switch (kind) {
      case READ_WRITE, WRITE_WRITE -> Happening.CONFLICTS;
      case FORGOTTEN -> Happening.FORGOTTEN_ABORTS;
      case REQUESTED -> Happening.REQUESTED_ABORTS;
    };
  }

  private void onCommitted(Command.Commit commit, Transaction transaction, long commitTimestamp) {
    long session = commit.session();
    Long before = commits.putIfAbsent(transaction, commitTimestamp);
    Broken.unless(
        before == null || before == commitTimestamp,
        "a transaction is committed once",
        transaction,
        before,
        commitTimestamp);
    if (before != null) {
      return;
    }
    world.counts.add(Happening.COMMITS);
    Broken.unless(isOpen(session), "a fenced session decides nothing", session, transaction);
    Broken.unless(!checker.isSeenAborted(transaction), "what is aborted stays", transaction);
    onIssued(commitTimestamp);
    checkConflicts(transaction, commitTimestamp);
    checkNotInDoubt(transaction);
    pending.put(commitTimestamp, transaction);
    if (commit.staged() != null) {
      world.counts.add(Happening.COMMITS_IN_PARTS);
      inParts.put(commitTimestamp, transaction);
      inDoubt.add(commitTimestamp);
      epoch++;
    }
    for (long row : transaction.writes) {
      commitsByRow.computeIfAbsent(row, unseen -> new TreeSet<>()).add(commitTimestamp);
    }
    record(transaction, commitTimestamp);
  }

  private void onIssued(long timestamp) {
    Broken.unless(timestamp > lastIssued, "timestamps increase", lastIssued, timestamp);
    Broken.unless(
        timestamp > largestStart, "nothing is issued in a snapshot", largestStart, timestamp);
    lastIssued = timestamp;
  }

  /** The rules of snapshot isolation and of write-snapshot isolation, with all commits known. */
  private void checkConflicts(Transaction transaction, long commitTimestamp) {
    boolean isSnapshot = transaction.level == IsolationLevel.SNAPSHOT;
    Set<Long> unchanged = new TreeSet<>(transaction.conditions);
    unchanged.addAll(isSnapshot ? transaction.writes : transaction.reads.keySet());
    for (long row : unchanged) {
      TreeSet<Long> ofRow = commitsByRow.getOrDefault(row, new TreeSet<>());
      Broken.unless(
          ofRow.higher(transaction.start) == null,
          "the first committer wins",
          transaction,
          row,
          ofRow,
          commitTimestamp);
    }
  }

  private void checkNotInDoubt(Transaction transaction) {
    for (long commit : inDoubt) {
      Broken.unless(
          Collections.disjoint(pending.get(commit).writes, transaction.writes),
          "what is in doubt is not overwritten",
          transaction,
          commit);
    }
  }

  void checkInDoubt(InDoubtCommits of) {
    Broken.unless(
        of.epoch() == epoch && of.commits().keySet().equals(inDoubt),
        "what is set aside follows from the log",
        epoch,
        inDoubt,
        of.epoch(),
        of.commits().keySet());
    of.commits()
        .forEach(
            (commit, ids) ->
                Broken.unless(
                    Arrays.equals(ids, pending.get(commit).request().writes()),
                    "it is known what a commit that is set aside writes",
                    commit,
                    ids));
  }

  /** Whoever finishes a commit has all that it writes. */
  void checkWrites(UnfinishedCommit commit) {
    Transaction transaction = inParts.get(commit.commit().commitTimestamp());
    List<byte[]> writes = commit.writeSet();
    Broken.unless(
        transaction == null
            ? writes.size() == 1 && writes.get(0).length == 1
            : isAll(transaction, writes),
        "the writes of a commit are kept until it is applied",
        commit,
        writes);
  }

  /** Null if it did not come in parts. */
  Transaction inParts(long commitTimestamp) {
    return inParts.get(commitTimestamp);
  }

  static boolean isAll(Transaction transaction, List<byte[]> parts) {
    boolean isAll = parts.size() == Transaction.PARTS;
    for (int i = 0; isAll && i < parts.size(); i++) {
      isAll = Arrays.equals(parts.get(i), transaction.part(i));
    }
    return isAll;
  }

  void onVisible(long start) {
    largestStart = Math.max(largestStart, start);
  }

  void onToldOutcome(UUID id, boolean isCommit) {
    Transaction transaction = byId.get(id);
    if (transaction != null) {
      boolean isCommitted = commitOf(transaction) != UNDECIDED;
      Broken.unless(isCommit == isCommitted, "an outcome is true", id, isCommit);
    }
  }

  /** A transaction that wrote nothing is over. */
  void onRead(Transaction transaction) {
    record(transaction, transaction.start);
  }

  private void record(Transaction transaction, long commitTimestamp) {
    readers.add(transaction);
    history.add(
        new Committed(
            transaction.number,
            transaction.isBlind ? commitTimestamp : transaction.start,
            commitTimestamp,
            transaction.reads,
            transaction.writes));
  }

  boolean isOpen(long session) {
    return open.contains(session);
  }

  long commitOf(Transaction transaction) {
    return commits.getOrDefault(transaction, UNDECIDED);
  }

  /** The smallest commit timestamp that is not applied. */
  long firstPending() {
    return pending.isEmpty() ? Long.MAX_VALUE : pending.firstKey();
  }

  /** The smallest commit timestamp that is neither applied nor in doubt. */
  long firstHolding() {
    return pending.keySet().stream()
        .filter(commit -> !inDoubt.contains(commit))
        .findFirst()
        .orElse(Long.MAX_VALUE);
  }

  /** As {@link #firstHolding}, but for those that are applied though the log does not say so. */
  long firstToHide() {
    return pending.keySet().stream()
        .filter(commit -> !inDoubt.contains(commit) && !isApplied(commit))
        .findFirst()
        .orElse(Long.MAX_VALUE);
  }

  /** The commits at or below a timestamp that are not applied, whatever the log says. */
  Set<Long> unappliedUpTo(long timestamp) {
    return pending.headMap(timestamp, true).keySet().stream()
        .filter(commit -> !isApplied(commit))
        .collect(toSet());
  }

  private boolean isApplied(long commitTimestamp) {
    return checker.store.has(pending.get(commitTimestamp), commitTimestamp);
  }

  /** Who made a commit that is not applied; null if there is none. */
  Transaction pending(long commitTimestamp) {
    return pending.get(commitTimestamp);
  }

  List<Committed> history() {
    return history;
  }

  /** What was read is what the snapshots have when everything is applied. */
  void checkReads() {
    for (Transaction reader : readers) {
      reader.reads.forEach(
          (row, writer) ->
              Broken.unless(
                  checker.store.read(row, reader.start) == writer,
                  "a snapshot does not change",
                  reader,
                  row,
                  writer));
    }
  }
}
