// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.pop3;

import java.util.Optional;

/** Locks on the drops of users, for all mail servers together. For all threads that may wait. */
public interface DropLocks extends AutoCloseable {

  /** A lock that a client has. */
  interface Held {

    /** Whether it is still the client's. After a pause of this server it may be another one's. */
    boolean isHeld();

    /** Gives the lock back; a second time does nothing. */
    void release();
  }

  /** Locks the drop of a user, unless it is locked. */
  Optional<Held> tryLock(String address);

  /** Keeps no lock any longer; those that are held expire. */
  @Override
  void close();
}
