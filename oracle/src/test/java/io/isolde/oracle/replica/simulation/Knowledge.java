// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import io.isolde.oracle.SetAsideCommits;
import java.util.ArrayList;
import java.util.List;

/** What a coordinator knows to be stable, and what is set aside below that. */
final class Knowledge {
  /**
   * What is to be done with a snapshot when it is known what is set aside below it.
   *
   * @param hold the low watermark must not pass it meanwhile
   */
  private record Unknown(long epoch, long hold, Runnable use) {}

  private static final long NOTHING = Long.MAX_VALUE;

  private final World world;
  private final Coordinator coordinator;
  private final List<Unknown> unknown = new ArrayList<>();
  private SetAsideCommits setAside = SetAsideCommits.NONE;
  private long stable;

  Knowledge(World world, Coordinator coordinator) {
    this.world = world;
    this.coordinator = coordinator;
  }

  long stable() {
    return stable;
  }

  SetAsideCommits setAside() {
    return setAside;
  }

  /** Uses a snapshot, but not before it is known what is set aside below it. */
  void use(long epoch, long hold, Runnable use) {
    if (epoch <= setAside.epoch() || world.mutates(Mutation.USE_SNAPSHOTS_WITHOUT_THEIR_SET)) {
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
      coordinator.send(new Request.SetAside(need), this::onSet);
    }
  }

  private void onSet(Response response) {
    SetAsideCommits answer = ((Response.SetAside) response).set();
    setAside = answer.epoch() > setAside.epoch() ? answer : setAside;
    for (Unknown some : List.copyOf(unknown)) {
      if (some.epoch <= setAside.epoch() && unknown.remove(some)) {
        some.use.run();
      }
    }
    unknown.stream().findFirst().ifPresent(some -> ask(some.epoch));
  }

  /** Whether a snapshot may lack a version of a row that is yet to be applied; looks again then. */
  boolean isInDoubt(long row, long snapshot) {
    boolean isInDoubt =
        setAside.find(new long[] {row}, snapshot).isPresent()
            && !world.mutates(Mutation.READ_WHAT_IS_IN_DOUBT);
    if (isInDoubt) {
      world.counts.add(Happening.READS_IN_DOUBT);
      ask(setAside.epoch());
    }
    return isInDoubt;
  }

  /** Whether what a transaction overwrites is applied, as far as it must be. */
  boolean isTurnOf(Transaction transaction, long applyAfter) {
    return world.mutates(Mutation.SKIP_APPLY_AFTER)
        || (stable >= applyAfter && isApplied(transaction, setAside, applyAfter));
  }

  /**
   * Whether what a transaction overwrites is applied up to a snapshot.
   *
   * @param set what is set aside below that
   */
  boolean isApplied(Transaction transaction, SetAsideCommits set, long snapshot) {
    boolean isApplied = set.find(transaction.request(true).overwrites(), snapshot).isEmpty();
    if (!isApplied) {
      world.counts.add(Happening.APPLIES_IN_DOUBT);
      ask(setAside.epoch());
    }
    return isApplied || world.mutates(Mutation.OVERWRITE_WHAT_IS_SET_ASIDE);
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
