// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

import java.time.Instant;

/**
 * A message in a mailbox.
 *
 * @param uid of this mailbox
 * @param modSeq of the last change
 * @param saved when it came into this mailbox, in milliseconds
 */
public record StoredMessage(
    long uid, long modSeq, StoredFlags flags, Instant saved, MessageFacts facts) {

  /** The same message after a change of flags. */
  StoredMessage flagged(StoredFlags newFlags, long newModSeq) {
    return new StoredMessage(uid, newModSeq, newFlags, saved, facts);
  }
}
