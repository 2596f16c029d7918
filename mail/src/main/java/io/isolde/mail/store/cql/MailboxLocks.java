// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import io.isolde.mail.store.NotChangedException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Lets the changes of a mailbox wait for one another, in this process only. Stores whose changes
 * fail or are lost when they meet have this; other processes know nothing of it.
 */
final class MailboxLocks {
  private static final int MAX_LOCKS = 1_024;
  private static final long MAX_WAIT_SECONDS = 10;

  private final ReentrantLock[] locks = new ReentrantLock[MAX_LOCKS];

  MailboxLocks() {
    for (int i = 0; i < MAX_LOCKS; i++) {
      locks[i] = new ReentrantLock(true);
    }
  }

  /**
   * Runs an action while no other one for the same mailbox or name runs.
   *
   * @throws NotChangedException if others take too long
   */
  <T> T alone(Object mailboxOrName, Supplier<T> action) {
    ReentrantLock lock = locks[Math.floorMod(mailboxOrName.hashCode(), MAX_LOCKS)];
    try {
      if (!lock.tryLock(MAX_WAIT_SECONDS, TimeUnit.SECONDS)) {
        throw new NotChangedException();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new NotChangedException();
    }
    try {
      return action.get();
    } finally {
      lock.unlock();
    }
  }
}
