// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import io.isolde.oracle.replica.RecentCommits;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * What nodes note to be on their disks: a snapshot, and what was set aside below it. When all of
 * them die at once, they have what was applied when a mark was made, and get the rest from the log.
 */
final class Marks {
  private static final int MOST = 20;

  /**
   * One of them.
   *
   * @param applied all commits that were applied when it was made
   */
  private record Mark(long upTo, Set<Long> unsafe, Set<Long> applied) {}

  private final World world;
  private final List<Mark> marks = new ArrayList<>();

  Marks(World world) {
    this.world = world;
  }

  void make(Knowledge knowledge) {
    boolean forgets = world.mutates(Mutation.MARK_WITHOUT_WHAT_IS_SET_ASIDE);
    marks.add(
        new Mark(
            knowledge.stable(),
            forgets ? Set.of() : Set.copyOf(knowledge.setAside().commits().keySet()),
            world.checker.store.applied()));
    if (marks.size() > MOST) {
      marks.remove(world.time.below(MOST));
    }
  }

  /** Looks what would be if all died that keep rows, and asked this member. */
  void dieAndAsk(Member member) {
    if (marks.isEmpty() || member.applied < world.checker.applied()) {
      return; // It would not answer: it does not know all that is decided.
    }
    Mark mark = marks.get(world.time.below(marks.size()));
    RecentCommits recent = member.recent;
    if (recent.coversFrom() > mark.upTo) {
      world.counts.add(Happening.LOGS_THAT_DO_NOT_REACH_BACK);
      return;
    }
    for (long applied : world.checker.store.applied()) {
      boolean isAskedFor = applied > mark.upTo || mark.unsafe.contains(applied);
      if (!mark.applied.contains(applied) && isAskedFor && recent.find(applied).isPresent()) {
        world.counts.add(Happening.COMMITS_GOT_BACK);
      } else {
        Broken.unless(
            mark.applied.contains(applied) || (isAskedFor && applied <= recent.coversFrom()),
            "what was applied and may be lost is in the log",
            applied,
            mark.upTo,
            mark.unsafe);
      }
    }
  }
}
