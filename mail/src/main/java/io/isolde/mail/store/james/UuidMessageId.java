// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import com.datastax.oss.driver.api.core.uuid.Uuids;
import java.security.SecureRandom;
import java.util.UUID;
import org.apache.james.mailbox.model.MessageId;

/** The id of a message, the same in all mailboxes. New ones are time UUIDs, as in the thesis. */
public record UuidMessageId(UUID uuid) implements MessageId {

  /** Makes ids, and reads what {@link #serialize} has written. */
  public static final class Factory implements MessageId.Factory {
    /** They say that this is a UUID as the standards have it: 1 and 0. */
    private static final int VARIANT_BITS = 2;

    /**
     * What tells this process from others, by chance. The driver calculates that from addresses and
     * the like, which can be equal; and while 4.19 does so, it gives other threads zeros.
     */
    private static final long OWN = new SecureRandom().nextLong() >>> VARIANT_BITS | Long.MIN_VALUE;

    @Override
    public UuidMessageId fromString(String serialized) {
      return new UuidMessageId(UUID.fromString(serialized));
    }

    @Override
    public UuidMessageId generate() {
      // No two of a process have the same time.
      return new UuidMessageId(new UUID(Uuids.timeBased().getMostSignificantBits(), OWN));
    }
  }

  static UUID of(MessageId id) {
    return ((UuidMessageId) id).uuid();
  }

  @Override
  public String serialize() {
    return uuid.toString();
  }

  @Override
  public boolean isSerializable() {
    return true;
  }

  @Override
  public String toString() {
    return serialize();
  }
}
