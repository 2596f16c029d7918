// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Those who use one coordinator: their transactions, and what they ask about others. */
final class Client {
  static final int ROWS = 10;
  private static final int MAX_AT_ONCE = 4;
  private static final int MAX_ATTEMPTS = 4;

  private final Coordinator coordinator;
  private final World world;
  private final Timeline time;

  /** Begun, and no commit sent. */
  private final List<Transaction> open = new ArrayList<>();

  private final List<Transaction> deciding = new ArrayList<>();
  private int beginning;

  Client(Coordinator coordinator) {
    this.coordinator = coordinator;
    this.world = coordinator.world;
    this.time = world.time;
  }

  void step() {
    if (world.isFaulty && open.size() + deciding.size() + beginning < MAX_AT_ONCE) {
      switch (time.below(8)) {
        case 0 -> writeBlindly();
        case 1, 2 -> begin();
        case 3 -> writeIf(coordinator.largestGiven, world.checker.seen(), 1);
        default -> {}
      }
    }
    for (Transaction transaction : List.copyOf(open)) {
      if (time.oneIn(3)) {
        goOn(transaction);
      }
    }
    if (world.isFaulty && time.oneIn(12)) {
      askAround();
    }
  }

  private Transaction create(IsolationLevel level, boolean isBlind) {
    int number = world.transactions.size();
    UUID id = isBlind && time.oneIn(2) ? null : new UUID(3, number);
    Transaction transaction = new Transaction(number, id, level, isBlind);
    world.transactions.add(transaction);
    return transaction;
  }

  private void begin() {
    Transaction transaction = create(world.level(), false);
    beginning++;
    coordinator.begin(
        start -> {
          beginning--;
          transaction.start = start;
          world.checker.onOpened(coordinator, transaction);
          open.add(transaction);
        });
  }

  /** As a single statement does. */
  private void writeBlindly() {
    Transaction transaction = create(IsolationLevel.SERIALIZABLE, true);
    transaction.start = coordinator.largestGiven;
    transaction.writes.add((long) time.below(ROWS));
    transaction.writes.add((long) time.below(ROWS));
    commit(transaction);
  }

  /**
   * As a single statement with IF does: decides as of what this node knows; if the condition does
   * not hold there, or does no longer, as of the newest snapshot.
   *
   * @param seenBefore what clients had seen of commits when the statement came
   */
  private void writeIf(long snapshot, long seenBefore, int attempt) {
    long row = time.below(ROWS);
    if (coordinator.knowledge().isInDoubt(row, snapshot)) {
      return;
    }
    Transaction statement = create(IsolationLevel.SERIALIZABLE, true);
    statement.start = snapshot;
    statement.reads.put(row, world.checker.store.read(row, snapshot));
    if (time.oneIn(2)) {
      statement.writes.add(row);
      commit(statement, () -> decideAgain(seenBefore, attempt));
    } else if (attempt == 1 && !world.mutates(Mutation.ANSWER_FROM_AN_OLD_SNAPSHOT)) {
      decideAgain(seenBefore, attempt);
    } else {
      Broken.unless(
          snapshot >= seenBefore, "a condition sees all that succeeded before", statement);
      world.checker.log.onRead(statement);
      world.counts.add(Happening.CONDITIONS_NOT_HELD);
    }
  }

  private void decideAgain(long seenBefore, int attempt) {
    if (attempt == MAX_ATTEMPTS) {
      return;
    }
    world.counts.add(Happening.DECISIONS_AGAIN);
    beginning++;
    coordinator.begin(
        newest -> {
          beginning--;
          writeIf(newest, seenBefore, attempt + 1);
        });
  }

  private void goOn(Transaction transaction) {
    int choice = world.isFaulty ? time.below(8) : 7;
    if (choice < 3) {
      long row = time.below(ROWS);
      if (coordinator.knowledge().isInDoubt(row, transaction.start)) {
        return;
      }
      int writer = world.checker.store.read(row, transaction.start);
      Integer before = transaction.reads.put(row, writer);
      if (time.oneIn(4)) {
        transaction.conditions.add(row);
      }
      Broken.unless(
          before == null || before == writer, "a snapshot does not change", transaction, row);
    } else if (choice < 6) {
      transaction.writes.add((long) time.below(ROWS));
    } else {
      open.remove(transaction);
      if (transaction.writes.isEmpty()) {
        world.checker.log.onRead(transaction);
      } else if (!time.oneIn(12)) {
        commit(transaction);
      }
    }
  }

  private void commit(Transaction transaction) {
    commit(transaction, () -> {});
  }

  private void commit(Transaction transaction, Runnable onAborted) {
    deciding.add(transaction);
    coordinator.commit(
        transaction,
        decision -> {
          deciding.remove(transaction);
          if (decision instanceof Decision.Aborted) {
            world.checker.onToldAborted(transaction);
            onAborted.run();
          } else if (decision instanceof Decision.Refused && time.oneIn(2)) {
            // A new sequence number: the answer to the old one stays.
            commit(transaction, onAborted);
          }
        });
  }

  /** Somebody wants to know of a transaction that may run elsewhere. */
  private void askAround() {
    UUID id = new UUID(3, time.below(world.transactions.size() + 1));
    if (time.oneIn(4)) {
      long notBefore = time.oneIn(4) ? 0 : world.startOf(id);
      coordinator.execute(new Command.Abort(id, notBefore), this::onAborted);
    } else if (time.oneIn(6)) {
      long above = time.oneIn(2) ? 0 : time.nowMicros() + time.below(20_000);
      coordinator.execute(new Command.IssueTimestamp(above), unused -> {});
    } else {
      coordinator.send(
          new Request.Ask(id),
          response ->
              ((Response.Known) response)
                  .outcome()
                  .ifPresent(outcome -> world.checker.onToldOutcome(id, outcome)));
    }
  }

  private void onAborted(Answer answer) {
    Broken.unless(
        answer instanceof Answer.Ended
            || answer.equals(new Answer.Rejected(Answer.Rejected.Reason.OUTCOME_FORGOTTEN)),
        "an abort is answered",
        answer);
  }

  void loseAll() {
    open.clear();
    deciding.clear();
    beginning = 0;
  }

  /** Transactions whose snapshot must stay. */
  List<Transaction> reading() {
    List<Transaction> all = new ArrayList<>(open);
    deciding.stream().filter(transaction -> !transaction.isBlind).forEach(all::add);
    return all;
  }

  /** A commit under another number, although it may be decided already. */
  Request again(Command.Commit commit, int sequence) {
    Transaction transaction = world.checker.log.requestOf(commit.session(), commit.sequence());
    world.checker.log.onRequest(commit.session(), sequence, transaction);
    return new Request.Execute(
        new Command.Commit(commit.session(), sequence, commit.request()), false);
  }

  boolean isQuiet() {
    return open.isEmpty() && deciding.isEmpty() && beginning == 0;
  }
}
