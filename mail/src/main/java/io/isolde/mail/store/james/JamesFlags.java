// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import io.isolde.mail.store.StoredFlags;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import javax.mail.Flags;

/** Flags of JavaMail and those of the store. */
final class JamesFlags {
  private static final Map<Flags.Flag, Integer> BITS =
      Map.of(
          Flags.Flag.ANSWERED, StoredFlags.ANSWERED,
          Flags.Flag.DELETED, StoredFlags.DELETED,
          Flags.Flag.DRAFT, StoredFlags.DRAFT,
          Flags.Flag.FLAGGED, StoredFlags.FLAGGED,
          Flags.Flag.RECENT, StoredFlags.RECENT,
          Flags.Flag.SEEN, StoredFlags.SEEN,
          Flags.Flag.USER, StoredFlags.USER);

  /** Those that any message may get. */
  private static final int APPLICABLE =
      StoredFlags.ANSWERED
          | StoredFlags.DELETED
          | StoredFlags.DRAFT
          | StoredFlags.FLAGGED
          | StoredFlags.SEEN;

  private JamesFlags() {}

  static StoredFlags stored(Flags flags) {
    int system = 0;
    for (Flags.Flag flag : flags.getSystemFlags()) {
      system |= BITS.get(flag);
    }
    return new StoredFlags(system, Set.of(flags.getUserFlags()));
  }

  static Flags flags(StoredFlags stored) {
    Flags flags = new Flags();
    BITS.forEach(
        (flag, bit) -> {
          if (stored.has(bit)) {
            flags.add(flag);
          }
        });
    stored.keywords().forEach(flags::add);
    return flags;
  }

  /** Returns what any message of a mailbox may get. */
  static Flags applicable(Collection<String> keywords) {
    return flags(new StoredFlags(APPLICABLE, Set.copyOf(keywords)));
  }
}
