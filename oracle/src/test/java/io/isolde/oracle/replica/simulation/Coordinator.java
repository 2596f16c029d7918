// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import io.isolde.oracle.Decision;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import io.isolde.oracle.replica.UnfinishedCommit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;

/** One process of a coordinator; when it is restarted, another takes its place. */
final class Coordinator {
  private static final int RESEND_MICROS = 8_000;
  private static final int RENEW_MICROS = 8_000;

  /** A request that must be answered. */
  private static final class Outstanding {
    final Request request;
    final Consumer<Response> onAnswer;

    /** Largest start timestamp given when it was sent first. */
    final long hold;

    long sentAt;

    Outstanding(Request request, Consumer<Response> onAnswer, long hold) {
      this.request = request;
      this.onAnswer = onAnswer;
      this.hold = hold;
    }
  }

  final World world;
  final int node;
  private final Timeline time;
  private final UUID id;
  boolean isAlive = true;
  long pausedUntil;

  /** 0 while there is none. */
  long session;

  private long generation;
  private int nextSequence;
  long largestGiven;
  int leader;
  private long renewedAt;
  private long requests;
  private final Map<Long, Outstanding> outstanding = new LinkedHashMap<>();
  private final Applying applying;
  final Knowledge knowledge;
  private final Client client;

  Coordinator(World world, int node) {
    this.world = world;
    this.node = node;
    this.time = world.time;
    this.applying = new Applying(this);
    this.id = new UUID(7, node);
    this.knowledge = new Knowledge(world, this);
    this.client = new Client(this);
    this.leader = time.below(world.members.size());
    // As a process would take its clock.
    this.generation = time.nowMicros() * 1000;
    time.after(time.below(1000), this::tick);
  }

  private void tick() {
    if (!isAlive) {
      return;
    }
    if (time.nowMicros() < pausedUntil) {
      time.after(pausedUntil - time.nowMicros(), this::tick);
      return;
    }
    time.after(300 + time.below(1200), this::tick);
    resend();
    if (session == 0) {
      openSession();
    } else {
      client.step();
      applying.applyDecided();
      renew();
      recover();
      if (time.oneIn(6)) {
        world.checkpoints.make(knowledge);
      }
    }
  }

  /** Messages wait while the process is paused. */
  void receive(Runnable message) {
    if (isAlive && time.nowMicros() < pausedUntil) {
      time.after(pausedUntil - time.nowMicros() + 1, () -> receive(message));
    } else if (isAlive) {
      message.run();
    }
  }

  void pause(long micros) {
    world.counts.add(Happening.COORDINATOR_PAUSES);
    pausedUntil = time.nowMicros() + micros;
  }

  private void openSession() {
    boolean isOpening =
        outstanding.values().stream()
            .anyMatch(
                some ->
                    some.request instanceof Request.Execute execute
                        && execute.command() instanceof Command.OpenSession);
    if (!isOpening) {
      generation++;
      execute(new Command.OpenSession(id, generation), this::onOpened);
    }
  }

  private void onOpened(Answer answer) {
    if (answer instanceof Answer.SessionOpened opened) {
      session = opened.session();
      nextSequence = 0;
      time.remark("coordinator", node, "has session", session);
    } else {
      // Another process has taken its place.
      isAlive = false;
    }
  }

  /** All that was open is given up; what was decided is for others to apply. */
  private void loseSession() {
    session = 0;
    outstanding.clear();
    applying.clear();
    knowledge.dropUnknown();
    client.loseAll();
  }

  void begin(Consumer<Long> onStarted) {
    long hold = largestGiven;
    send(
        new Request.Begin(world.checker.seen()),
        response -> {
          Response.Started started = (Response.Started) response;
          long start = started.startTimestamp();
          knowledge.use(
              started.epoch(),
              hold,
              () -> {
                largestGiven = Math.max(largestGiven, start);
                onStarted.accept(start);
              });
        });
  }

  Knowledge knowledge() {
    return knowledge;
  }

  boolean isAskingForSet() {
    return outstanding.values().stream()
        .anyMatch(some -> some.request instanceof Request.DeclareInDoubt);
  }

  void commit(Transaction transaction, Consumer<Decision> onDecided) {
    if (time.oneIn(8)) {
      stage(transaction, new UUID(time.below(1 << 30), requests), 0, onDecided);
    } else {
      commit(transaction, null, onDecided);
    }
  }

  private void stage(
      Transaction transaction, UUID staging, int number, Consumer<Decision> onDecided) {
    Command.Staged all = new Command.Staged(staging, Transaction.PARTS);
    boolean isLast = number == Transaction.PARTS - 1;
    if (isLast && world.mutates(Mutation.COMMIT_BEFORE_ALL_PARTS)) {
      commit(transaction, all, onDecided);
    }
    execute(
        new Command.Stage(
            session, staging, number, transaction.totalBytes(), transaction.part(number)),
        answer -> {
          if (answer instanceof Answer.Fenced) {
            loseSession();
            return;
          }
          Broken.unless(answer instanceof Answer.Done, "a part that is next is taken", answer);
          if (!isLast) {
            stage(transaction, staging, number + 1, onDecided);
          } else if (!world.mutates(Mutation.COMMIT_BEFORE_ALL_PARTS)) {
            commit(transaction, all, onDecided);
          }
        });
  }

  private void commit(
      Transaction transaction, Command.Staged staged, Consumer<Decision> onDecided) {
    int sequence = nextSequence++;
    world.checker.log.onRequest(session, sequence, transaction);
    boolean isComplete = !world.mutates(Mutation.SEND_NO_READS);
    boolean hasConditions = !world.mutates(Mutation.SEND_NO_CONDITIONS);
    execute(
        new Request.Execute(
            new Command.Commit(
                session,
                sequence,
                transaction.request(isComplete, hasConditions),
                new byte[staged == null ? 1 : 0],
                staged),
            staged == null && time.oneIn(3)),
        answered -> {
          if (answered.answer() instanceof Answer.Decided decided) {
            if (staged != null && decided.decision() instanceof Decision.Refused) {
              execute(new Command.Unstage(session, staged.id()), unheard -> {});
            }
            onDecided.accept(decided.decision());
            if (decided.decision() instanceof Decision.Committed committed) {
              applying.decided(transaction, committed, answered);
            }
          } else if (world.mutates(Mutation.TAKE_FENCED_FOR_ABORTED)) {
            world.checker.onToldAborted(transaction);
          } else {
            world.counts.add(Happening.UNKNOWN_OUTCOMES);
            loseSession();
          }
        });
  }

  void execute(Command command, Consumer<Answer> onAnswer) {
    execute(new Request.Execute(command, false), answered -> onAnswer.accept(answered.answer()));
  }

  private void execute(Request.Execute request, Consumer<Response.Answered> onAnswer) {
    send(
        request,
        response -> {
          Response.Answered answered = (Response.Answered) response;
          knowledge.learn(answered.stable(), answered.epoch(), () -> {});
          onAnswer.accept(answered);
        });
  }

  /** Applies commits whose coordinator is gone or has not applied them, if it is their turn. */
  private void recover() {
    Member member = world.members.get(leader);
    if (!time.oneIn(4) || !member.node.isUp) {
      return;
    }
    member.replica.unfinished().stream()
        .filter(commit -> commit.isOrphan() || !wouldHide())
        .peek(world.checker.log::checkWrites)
        .map(UnfinishedCommit::commit)
        .filter(orphan -> orphan.commitTimestamp() - 2 <= member.replica.stable())
        .forEach(
            orphan -> {
              Transaction transaction = world.checker.log.pending(orphan.commitTimestamp());
              long before = orphan.commitTimestamp() - 2;
              if (transaction != null
                  && knowledge.isApplied(transaction, member.replica.inDoubt(), before)
                  && applying.canApply(transaction)) {
                world.counts.add(Happening.ORPHANS_APPLIED);
                world.checker.store.apply(transaction, orphan.commitTimestamp());
                Request applied = new Request.Applied(orphan.commitTimestamp(), true);
                world.send(this, leader, applied, unheard -> {});
              }
            });
  }

  /** Whether others that finish a living coordinator's commits would make up for the mistake. */
  private boolean wouldHide() {
    return world.mutates(Mutation.TELL_APPLIED_ONCE)
        || world.mutates(Mutation.TAKE_UNHEARD_OF_FOR_LOGGED);
  }

  private void renew() {
    if (time.nowMicros() - renewedAt < RENEW_MICROS) {
      return;
    }
    renewedAt = time.nowMicros();
    long renewed = session;
    List<Long> repeated = world.mutates(Mutation.TELL_APPLIED_ONCE) ? List.of() : applying.seen();
    world.send(
        this,
        leader,
        new Request.Renew(session, oldestStart(), repeated),
        response -> {
          if (response instanceof Response.RenewedLease answer) {
            answer
                .unlogged()
                .forEach(unlogged -> world.counts.add(Happening.APPLIED_REPORTED_AGAIN));
            applying.heard(repeated, answer.unlogged());
            knowledge.learn(answer.stable(), answer.epoch(), () -> {});
            if (!answer.isOpen() && renewed == session) {
              loseSession();
            }
          } else {
            leader = time.below(world.members.size());
          }
        });
  }

  private long oldestStart() {
    long oldest = largestGiven;
    for (Transaction transaction : reading()) {
      oldest = Math.min(oldest, transaction.start);
    }
    if (!world.mutates(Mutation.FORGET_STARTS_UNDER_WAY)) {
      for (Outstanding some : outstanding.values()) {
        oldest = some.request instanceof Request.Begin ? Math.min(oldest, some.hold) : oldest;
      }
      oldest = knowledge.oldestHold(oldest);
    }
    return oldest;
  }

  /** The open transactions that read a snapshot. */
  List<Transaction> reading() {
    return client.reading();
  }

  void send(Request request, Consumer<Response> onAnswer) {
    Outstanding some = new Outstanding(request, onAnswer, largestGiven);
    outstanding.put(requests++, some);
    send(requests - 1, some);
  }

  private void send(long number, Outstanding some) {
    some.sentAt = time.nowMicros();
    int member = leader;
    world.send(
        this,
        member,
        some.request,
        response -> {
          if (response instanceof Response.NotLeader) {
            // Asks again after a while, somewhere else.
            leader = member == leader ? time.below(world.members.size()) : leader;
          } else if (outstanding.remove(number) != null) {
            some.onAnswer.accept(response);
          }
        });
  }

  private void resend() {
    for (Map.Entry<Long, Outstanding> entry : List.copyOf(outstanding.entrySet())) {
      Outstanding some = entry.getValue();
      if (time.nowMicros() - some.sentAt > RESEND_MICROS) {
        leader = time.oneIn(3) ? time.below(world.members.size()) : leader;
        Request request = some.request;
        if (world.mutates(Mutation.FORGET_RECENT_DECISIONS)
            && request instanceof Request.Execute execute
            && execute.command() instanceof Command.Commit commit) {
          request = client.again(commit, nextSequence++);
          world.send(this, leader, request, unheard -> {});
        }
        send(entry.getKey(), some);
      }
    }
  }

  boolean isQuiet() {
    return !isAlive
        || (outstanding.isEmpty() && knowledge.isQuiet() && applying.isQuiet() && client.isQuiet());
  }

  @Override
  public String toString() {
    return "coordinator "
        + node
        + " session "
        + session
        + " outstanding "
        + outstanding.values().stream().map(some -> some.request).toList()
        + " to apply "
        + applying;
  }
}
