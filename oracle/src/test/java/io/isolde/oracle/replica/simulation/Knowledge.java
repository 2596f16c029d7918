// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import io.isolde.oracle.InDoubtCommits;
import java.util.ArrayList;
import java.util.List;

/** What a coordinator knows to be stable, and what is in doubt below that. */
final class Knowledge {
  /**
   * What is to be done with a snapshot when it is known what is in doubt below it.
   *
   * @param hold the low watermark must not pass it meanwhile
   */
  private record Unknown(long epoch, long hold, Runnable use) {}

  private static final long NOTHING = Long.MAX_VALUE;

  private final World world;
  private final Coordinator coordinator;
  private final List<Unknown> unknown = new ArrayList<>();
  private InDoubtCommits inDoubt = InDoubtCommits.NONE;
  private long stable;

  Knowledge(World world, Coordinator coordinator) {
    this.world = world;
    this.coordinator = coordinator;
  }

  long stable() {
    return stable;
  }

  InDoubtCommits inDoubt() {
    return inDoubt;
  }

  /** Uses a snapshot, but not before it is known what is in doubt below it. */
  void use(long epoch, long hold, Runnable use) {
    if (epoch <= inDoubt.epoch() || world.mutates(Mutation.USE_SNAPSHOTS_WITHOUT_THEIR_SET)) {
      use.run();
    } else {
      unknown.add(new Unknown(epoch, hold, use));
      ask(epoch);
    }
  }

  void learn(long newStable, long epoch, Runnable then) {
    use(
        epoch,
        NOTHING,
        () -> {
          stable = Math.max(stable, newStable);
          then.run();
        });
  }

  private void ask(long need) {
    if (!coordinator.isAskingForSet()) {
      world.counts.add(Happening.SETS_ASKED_FOR);
      coordinator.send(new Request.DeclareInDoubt(need), this::onSet);
    }
  }

  private void onSet(Response response) {
    InDoubtCommits answer = ((Response.DeclareInDoubt) response).set();
    inDoubt = answer.epoch() > inDoubt.epoch() ? answer : inDoubt;
    for (Unknown some : List.copyOf(unknown)) {
      if (some.epoch <= inDoubt.epoch() && unknown.remove(some)) {
        some.use.run();
      }
    }
    unknown.stream().findFirst().ifPresent(some -> ask(some.epoch));
  }

  /** Whether a snapshot may lack a version of a row that is yet to be applied; looks again then. */
  boolean isInDoubt(long row, long snapshot) {
    boolean isInDoubt =
        inDoubt.find(new long[] {row}, snapshot).isPresent()
            && !world.mutates(Mutation.READ_WHAT_IS_IN_DOUBT);
    if (isInDoubt) {
      world.counts.add(Happening.READS_IN_DOUBT);
      ask(inDoubt.epoch());
    }
    return isInDoubt;
  }

  /** Whether what a transaction overwrites is applied, as far as it must be. */
  boolean isNext(Transaction transaction, long applyAfter) {
    return world.mutates(Mutation.SKIP_APPLY_AFTER)
        || (stable >= applyAfter && isApplied(transaction, inDoubt, applyAfter));
  }

  /**
   * Whether what a transaction overwrites is applied up to a snapshot.
   *
   * @param set what is in doubt below that
   */
  boolean isApplied(Transaction transaction, InDoubtCommits set, long snapshot) {
    boolean isApplied = set.find(transaction.request().overwrites(), snapshot).isEmpty();
    if (!isApplied) {
      world.counts.add(Happening.APPLIES_IN_DOUBT);
      ask(inDoubt.epoch());
    }
    return isApplied || world.mutates(Mutation.OVERWRITE_WHAT_IS_IN_DOUBT);
  }

  /** The oldest snapshot that is not used yet; {@code otherwise} if there is none. */
  long oldestHold(long otherwise) {
    return unknown.stream().mapToLong(some -> some.hold).reduce(otherwise, Math::min);
  }

  /** Those who would have used them are gone. */
  void dropUnknown() {
    unknown.clear();
  }

  boolean isQuiet() {
    return unknown.isEmpty();
  }
}
