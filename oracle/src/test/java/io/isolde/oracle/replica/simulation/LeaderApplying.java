// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import io.isolde.oracle.Decision;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Leadership;
import java.util.List;
import java.util.function.Consumer;

/** Commits that a leader applies for their coordinators, before it answers them. */
final class LeaderApplying {
  private final World world;
  private final Timeline time;
  private final Member member;

  LeaderApplying(World world, Member member) {
    this.world = world;
    this.time = world.time;
    this.member = member;
  }

  /** Tells those who asked for the last commands of an entry. */
  void answer(List<Proposal.Item> items, List<Answer> answers, long stable) {
    int unreported = answers.size() - items.size();
    for (int i = 0; i < items.size(); i++) {
      Answer answer = answers.get(unreported + i);
      answer(items.get(i), new Response.Answered(answer, stable, member.epoch(), false));
    }
  }

  /** Answers now, or when it has applied what it may. */
  private void answer(Proposal.Item item, Response.Answered plain) {
    if (item.isToBeApplied()
        && plain.answer() instanceof Answer.Decided decided
        && decided.decision() instanceof Decision.Committed commit
        && mayApply(commit)) {
      LeaderState leaderState = member.leaderState;
      int pause = time.below(world.isFaulty && time.oneIn(6) ? 12_000 : 800);
      boolean isTooLong = time.oneIn(5);
      time.after(
          pause, () -> apply(leaderState, commit, plain, isTooLong ? late -> {} : item.reply()));
      if (isTooLong) {
        item.reply().accept(plain);
      }
    } else {
      item.reply().accept(plain);
    }
  }

  private boolean mayApply(Decision.Committed commit) {
    return world.checker.log.pending(commit.commitTimestamp()) != null
        && (member.leaderState.leadership.mayApply(commit)
            || world.mutates(Mutation.APPLY_OUT_OF_ORDER_AT_THE_LEADER));
  }

  /** By then it may lead no more, or others may have applied it. */
  private void apply(
      LeaderState leaderState,
      Decision.Committed commit,
      Response.Answered plain,
      Consumer<Response> reply) {
    long commitTimestamp = commit.commitTimestamp();
    Transaction transaction = world.checker.log.pending(commitTimestamp);
    if (!member.node.isUp) {
      return;
    }
    if (transaction == null || !world.checker.store.canApply(transaction, time.nowMicros())) {
      reply.accept(plain);
      return;
    }
    world.checker.store.apply(transaction, commitTimestamp);
    if (member.leaderState == leaderState && leaderState.leadership.isServing()) {
      world.counts.add(Happening.APPLIED_BY_THE_LEADER);
      reportApplied(commitTimestamp, plain.answer(), reply);
    } else {
      reply.accept(plain);
    }
  }

  private void reportApplied(long commitTimestamp, Answer answer, Consumer<Response> reply) {
    Leadership leadership = member.leaderState.leadership;
    var unused = leadership.applied(List.of(commitTimestamp));
    member.answerWaiters();
    reply.accept(new Response.Answered(answer, leadership.stable(), member.epoch(), true));
  }
}
