// SPDX-License-Identifier: Apache-2.0
package io.isolde.rowlock;

import io.isolde.rowlock.LockMessages.Granted;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Releases that the leader has not acknowledged. They are sent again: after a lost one, others
 * would wait for a lease. That is nearly as long as transactions wait for a row.
 */
final class PendingReleases {
  /** Of more, the locks end with their lease. */
  static final int MAX_PENDING = 4_096;

  private final Function<UUID, CompletableFuture<Optional<Granted>>> sender;
  private final int maxAttempts;

  /** How often each was sent. */
  private final Map<UUID, Integer> attempts = new ConcurrentHashMap<>();

  /**
   * Has no releases.
   *
   * @param sender answers with nothing if nobody leads, and fails if the leader is silent
   * @param maxAttempts after so many the lease has ended the locks
   */
  PendingReleases(Function<UUID, CompletableFuture<Optional<Granted>>> sender, int maxAttempts) {
    this.sender = sender;
    this.maxAttempts = maxAttempts;
  }

  /** Sends a release now, and again with each {@link #tick} until it is acknowledged. */
  void release(UUID transaction) {
    if (attempts.size() < MAX_PENDING) {
      attempts.put(transaction, 1);
    }
    send(transaction);
  }

  /** Sends again what is not acknowledged; to be called about each second. */
  void tick() {
    for (UUID transaction : attempts.keySet()) {
      Integer sent =
          attempts.computeIfPresent(
              transaction, (same, before) -> before < maxAttempts ? before + 1 : null);
      if (sent != null) {
        send(transaction);
      }
    }
  }

  private void send(UUID transaction) {
    CompletableFuture<Optional<Granted>> answer;
    try {
      answer = sender.apply(transaction);
    } catch (RuntimeException e) { // As if it were lost: nobody's tick may end with it.
      answer = CompletableFuture.failedFuture(e);
    }
    var unused =
        answer.whenComplete(
            (granted, failure) -> {
              if (failure == null && granted.isPresent()) {
                attempts.remove(transaction);
              }
            });
  }

  /** Returns how many the leader has not acknowledged. */
  int size() {
    return attempts.size();
  }
}
