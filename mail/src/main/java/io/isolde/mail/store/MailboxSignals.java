// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

import java.util.UUID;

/** Says that a mailbox may have changed, through whichever server. */
public interface MailboxSignals {

  /**
   * Starts to listen. Whoever reads the mailbox after this has returned misses nothing.
   *
   * @param changed called after a change, perhaps once for several, perhaps without any; it must
   *     not wait
   * @return ends it when it is closed
   */
  Listening listen(UUID mailbox, Runnable changed);

  /** Goes on until it is closed. */
  interface Listening extends AutoCloseable {
    @Override
    void close();
  }
}
