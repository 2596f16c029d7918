// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

import java.util.Collection;
import java.util.HashSet;
import java.util.Set;

/**
 * What a mailbox counts. Each change of a mailbox changes these with it.
 *
 * @param nextUid above all that were ever given
 * @param highestModSeq at least that of every message, and above it once one was removed
 * @param messages how many there are
 * @param unseen how many of these have no flag SEEN
 * @param keywords all that messages have or once had
 */
public record Numbers(
    long nextUid, long highestModSeq, long messages, long unseen, Set<String> keywords) {

  /** Those of a new mailbox. */
  public static final Numbers INITIAL = new Numbers(1, 0, 0, 0, Set.of());

  /** Else one user could make the row of these numbers grow without end. */
  public static final int MAX_KEYWORDS = 1_000;

  public Numbers {
    keywords = Set.copyOf(keywords);
  }

  /** With one more modification sequence given. */
  Numbers modified() {
    return new Numbers(nextUid, highestModSeq + 1, messages, unseen, keywords);
  }

  /** With one more UID given. */
  Numbers numbered() {
    return new Numbers(nextUid + 1, highestModSeq, messages, unseen, keywords);
  }

  /** With the UID and the modification sequence of a message counted as given. */
  Numbers atLeast(long uid, long modSeq) {
    return new Numbers(
        Math.max(nextUid, uid + 1), Math.max(highestModSeq, modSeq), messages, unseen, keywords);
  }

  Numbers plus(long moreMessages, long moreUnseen) {
    return new Numbers(
        nextUid, highestModSeq, messages + moreMessages, unseen + moreUnseen, keywords);
  }

  /** With keywords that messages get. */
  Numbers knowing(Collection<String> more) {
    if (keywords.containsAll(more)) {
      return this;
    }
    Set<String> all = new HashSet<>(keywords);
    all.addAll(more);
    if (all.size() > MAX_KEYWORDS) {
      throw new TooManyKeywordsException();
    }
    return new Numbers(nextUid, highestModSeq, messages, unseen, all);
  }
}
