// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import io.isolde.oracle.Outcome;
import io.isolde.oracle.replica.Answer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** The invariants that concern more than the log: replicas, readers and clients. */
final class Checker {
  /** So often the whole state of replicas is compared; what is cheap, with every entry. */
  private static final int ENTRIES_PER_DIGEST = 16;

  private record Fingerprint(
      long stable,
      long last,
      long reservedUntil,
      long epoch,
      Set<Long> inDoubt,
      List<Long> sessions,
      List<?> orphans) {
    static Fingerprint of(Member member) {
      var replica = member.replica;
      return new Fingerprint(
          replica.stable(),
          replica.last(),
          replica.reservedUntil(),
          replica.inDoubt().epoch(),
          replica.inDoubt().commits().keySet(),
          replica.openSessions(),
          replica.orphans());
    }
  }

  private final World world;
  final LogChecker log;
  final Store store = new Store();

  private final List<List<Answer>> answersByIndex = new ArrayList<>();
  private final List<Fingerprint> fingerprints = new ArrayList<>();
  private final Map<Integer, byte[]> digests = new HashMap<>();

  /** The largest commit timestamp of which a client knows that it succeeded. */
  private long seen;

  private long highestLowWatermark;
  private final Set<Transaction> seenAborted = new HashSet<>();
  private final Map<UUID, Boolean> seenById = new HashMap<>();

  Checker(World world) {
    this.world = world;
    this.log = new LogChecker(world, this);
  }

  /** Members at the same place of the log are the same, and have answered the same. */
  void onApplied(Member member, int size, RaftModel.Entry entry, List<Answer> answers) {
    Fingerprint fingerprint = Fingerprint.of(member);
    if (answersByIndex.size() < size) {
      answersByIndex.add(answers);
      fingerprints.add(fingerprint);
      log.onApplied(entry.content().commands(), answers);
      Broken.unless(
          log.firstHolding() > fingerprint.stable,
          "stable is below every commit that is neither applied nor set aside",
          fingerprint,
          log.firstHolding());
      log.checkInDoubt(member.replica.inDoubt());
    } else {
      Broken.unless(
          answersByIndex.get(size - 1).equals(answers),
          "replicas answer the same",
          size,
          answersByIndex.get(size - 1),
          answers);
      Broken.unless(
          fingerprints.get(size - 1).equals(fingerprint),
          "replicas are the same",
          size,
          fingerprints.get(size - 1),
          fingerprint);
    }
    if (size % ENTRIES_PER_DIGEST == 0) {
      compareState(member, size);
    }
  }

  void compareState(Member member, int size) {
    byte[] state = StateBytes.of(member.replica);
    byte[] known = digests.putIfAbsent(size, state);
    Broken.unless(
        known == null || Arrays.equals(known, state), "replicas have the same state", size);
  }

  int applied() {
    return answersByIndex.size();
  }

  /** A start timestamp was given, or what is as good as one. */
  void onVisible(Member member, long start) {
    Broken.unless(
        start < log.firstToHide(),
        "nothing that is neither applied nor set aside is visible",
        member.number,
        start,
        log.firstToHide());
    log.onVisible(start);
  }

  /**
   * @param seenBefore as {@link #seen} when the start was asked for
   */
  void onStart(Member member, long start, long seenBefore) {
    world.time.remark("member", member.number, "gives start", start);
    Broken.unless(
        start >= seenBefore,
        "who begins sees all that succeeded before",
        member.number,
        start,
        seenBefore);
    onVisible(member, start);
  }

  void onOpened(Coordinator coordinator, Transaction transaction) {
    Set<Long> inDoubt = log.unappliedUpTo(transaction.start);
    Broken.unless(
        coordinator.knowledge().inDoubt().commits().keySet().containsAll(inDoubt),
        "who holds a snapshot knows what is in doubt in it",
        coordinator.node,
        transaction,
        inDoubt,
        coordinator.knowledge().inDoubt().commits().keySet());
    if (log.isOpen(coordinator.session)) {
      Broken.unless(
          transaction.start >= highestLowWatermark,
          "no transaction begins below the low watermark",
          transaction,
          highestLowWatermark);
    }
  }

  void onLowWatermark(Member member, long lowWatermark) {
    highestLowWatermark = Math.max(highestLowWatermark, lowWatermark);
    for (Coordinator coordinator : world.coordinators) {
      if (coordinator.isAlive && log.isOpen(coordinator.session)) {
        for (Transaction open : coordinator.reading()) {
          Broken.unless(
              open.start >= lowWatermark,
              "the low watermark is not above an open transaction",
              member.number,
              open,
              lowWatermark);
        }
      }
    }
  }

  long seen() {
    return seen;
  }

  void onToldSuccess(Transaction transaction, long commitTimestamp) {
    Broken.unless(
        log.commitOf(transaction) == commitTimestamp && !seenAborted.contains(transaction),
        "a client is told the truth of a commit",
        transaction,
        commitTimestamp);
    Broken.unless(
        store.has(transaction, commitTimestamp), "what succeeded is applied", transaction);
    seen = Math.max(seen, commitTimestamp);
  }

  void onToldAborted(Transaction transaction) {
    seenAborted.add(transaction);
    Broken.unless(
        log.commitOf(transaction) == LogChecker.UNDECIDED,
        "a client is told the truth of an abort",
        transaction);
  }

  void onToldOutcome(UUID id, Outcome outcome) {
    boolean isCommit = outcome instanceof Outcome.Committed;
    Boolean before = seenById.putIfAbsent(id, isCommit);
    Broken.unless(before == null || before == isCommit, "an outcome stays", id, outcome);
    log.onToldOutcome(id, isCommit);
  }

  boolean isSeenAborted(Transaction transaction) {
    return seenAborted.contains(transaction)
        || Boolean.FALSE.equals(seenById.getOrDefault(transaction.id, true));
  }
}
