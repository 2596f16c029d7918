// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.InDoubtCommits;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * What a coordinator knows of the commits in doubt. It asks only if it hears of an epoch that it
 * has not seen, and only once at a time. It never goes back. Thread-safe.
 */
/*
 * A later set does for an earlier snapshot, too: what was at or below the snapshot and not applied
 * when it was given out was in the set of that moment, and stays there until it is applied.
 */
final class KnownInDoubt {

  /** Asks the leader. */
  interface Question {
    /**
     * Asks for the set.
     *
     * @param have the epoch that is known: nothing is sent if that is the latest
     * @param need a leader that has not come to this epoch is none
     */
    CompletableFuture<Optional<InDoubtCommits>> ask(long have, long need);
  }

  private final Question question;
  private volatile InDoubtCommits set = InDoubtCommits.NONE;

  /** The question that has no answer yet; null if there is none. Guarded by this. */
  private CompletableFuture<InDoubtCommits> underWay;

  KnownInDoubt(Question question) {
    this.question = question;
  }

  /** The latest that is known. */
  InDoubtCommits set() {
    return set;
  }

  /** Completes when the set of an epoch, or a later one, is known. */
  CompletableFuture<InDoubtCommits> await(long epoch) {
    InDoubtCommits known = set;
    return known.epoch() >= epoch
        ? CompletableFuture.completedFuture(known)
        // What is under way may have been asked for before that epoch.
        : ask(epoch).thenCompose(later -> await(epoch));
  }

  /** Completes with the set as it was at some moment from the last question on. */
  CompletableFuture<InDoubtCommits> refresh() {
    return ask(set.epoch());
  }

  private CompletableFuture<InDoubtCommits> ask(long need) {
    CompletableFuture<InDoubtCommits> asked = new CompletableFuture<>();
    synchronized (this) {
      if (underWay != null) {
        return underWay;
      }
      underWay = asked;
    }
    var unused =
        question
            .ask(set.epoch(), need)
            .whenComplete((later, error) -> answered(asked, later, error));
    return asked;
  }

  private void answered(
      CompletableFuture<InDoubtCommits> asked, Optional<InDoubtCommits> later, Throwable error) {
    synchronized (this) {
      if (error == null && later.isPresent() && later.get().epoch() > set.epoch()) {
        set = later.get();
      }
      underWay = null;
    }
    if (error == null) {
      asked.complete(set);
    } else {
      asked.completeExceptionally(error);
    }
  }
}
