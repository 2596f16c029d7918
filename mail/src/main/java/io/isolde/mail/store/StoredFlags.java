// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

import java.util.Set;

/**
 * The flags of a message.
 *
 * @param system bits of {@link #SEEN} and so on
 * @param keywords flags of users' own names
 */
public record StoredFlags(int system, Set<String> keywords) {
  public static final int ANSWERED = 1;
  public static final int DELETED = 2;
  public static final int DRAFT = 4;
  public static final int FLAGGED = 8;
  public static final int RECENT = 16;
  public static final int SEEN = 32;

  /** That users may give flags of their own names. */
  public static final int USER = 64;

  public StoredFlags {
    keywords = Set.copyOf(keywords);
  }

  /** Returns whether all the given bits are set. */
  public boolean has(int bits) {
    return (system & bits) == bits;
  }

  /** Returns 1 if the message counts as unseen, else 0. */
  public int unseen() {
    return has(SEEN) ? 0 : 1;
  }
}
