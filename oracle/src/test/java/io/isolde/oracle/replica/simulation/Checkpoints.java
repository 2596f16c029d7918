// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import io.isolde.oracle.replica.Command;
import io.isolde.oracle.replica.RecentCommits;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * What nodes note to be on their disks: a snapshot, and what was in doubt below it. When all of
 * them die at once, they have what was applied when a mark was made, and get the rest from the log.
 */
final class Checkpoints {
  private static final int MOST = 20;

  /**
   * One of them.
   *
   * @param applied all commits that were applied when it was made
   */
  private record Checkpoint(long upTo, Set<Long> unsafe, Set<Long> applied) {}

  private final World world;
  private final List<Checkpoint> checkpoints = new ArrayList<>();

  Checkpoints(World world) {
    this.world = world;
  }

  void make(Knowledge knowledge) {
    boolean forgets = world.mutates(Mutation.CHECKPOINT_WITHOUT_WHAT_IS_IN_DOUBT);
    checkpoints.add(
        new Checkpoint(
            knowledge.stable(),
            forgets ? Set.of() : Set.copyOf(knowledge.inDoubt().commits().keySet()),
            world.checker.store.applied()));
    if (checkpoints.size() > MOST) {
      checkpoints.remove(world.time.below(MOST));
    }
  }

  /** All that was written is in the log there. */
  private void checkPlaces(Member member, long commitTimestamp) {
    List<Command> found =
        member.recent.find(commitTimestamp).stream()
            .map(place -> commandAt(member, place))
            .toList();
    Transaction inParts = world.checker.log.inParts(commitTimestamp);
    if (inParts == null) {
      Broken.unless(
          found.size() == 1 && found.get(0) instanceof Command.Commit,
          "a commit is found where it is",
          found);
      return;
    }
    Broken.unless(
        LogChecker.isAll(
            inParts,
            found.stream()
                .map(command -> command instanceof Command.Stage some ? some.part() : new byte[0])
                .toList()),
        "the parts of a commit are found where they are",
        found);
    world.counts.add(Happening.COMMITS_IN_PARTS_GOT_BACK);
  }

  private static Command commandAt(Member member, RecentCommits.Place place) {
    return member.node.log.get((int) place.index()).content().commands().get(place.position());
  }

  /** Looks what would be if all died that keep rows, and asked this member. */
  void dieAndAsk(Member member) {
    if (checkpoints.isEmpty() || member.applied < world.checker.applied()) {
      return; // It would not answer: it does not know all that is decided.
    }
    Checkpoint checkpoint = checkpoints.get(world.time.below(checkpoints.size()));
    RecentCommits recent = member.recent;
    if (recent.coversFrom() > checkpoint.upTo) {
      world.counts.add(Happening.LOGS_THAT_DO_NOT_REACH_BACK);
      return;
    }
    for (long applied : world.checker.store.applied()) {
      boolean isAskedFor = applied > checkpoint.upTo || checkpoint.unsafe.contains(applied);
      if (!checkpoint.applied.contains(applied) && isAskedFor && !recent.find(applied).isEmpty()) {
        checkPlaces(member, applied);
        world.counts.add(Happening.COMMITS_GOT_BACK);
      } else {
        Broken.unless(
            checkpoint.applied.contains(applied) || (isAskedFor && applied <= recent.coversFrom()),
            "what was applied and may be lost is in the log",
            applied,
            checkpoint.upTo,
            checkpoint.unsafe);
      }
    }
  }
}
