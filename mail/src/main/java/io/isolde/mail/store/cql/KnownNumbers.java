// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import io.isolde.mail.store.Numbers;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * The numbers of mailboxes as this server has written them last. Others may have changed them
 * since. Beyond a bound, those go that were of no use for longest. Thread-safe.
 */
final class KnownNumbers {
  static final int MAX_MAILBOXES = 10_000;

  /** Of all keywords of a mailbox. If there are more, its numbers are read each time. */
  static final int MAX_KEYWORD_CHARACTERS = 256;

  /** The one that was used last comes last; guarded by itself. */
  private final Map<UUID, Numbers> numbers =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<UUID, Numbers> eldest) {
          return size() > MAX_MAILBOXES;
        }
      };

  Optional<Numbers> of(UUID mailbox) {
    synchronized (numbers) {
      return Optional.ofNullable(numbers.get(mailbox));
    }
  }

  void are(UUID mailbox, Numbers written) {
    int characters = written.keywords().stream().mapToInt(String::length).sum();
    if (characters <= MAX_KEYWORD_CHARACTERS) {
      synchronized (numbers) {
        numbers.put(mailbox, written);
      }
    }
  }

  void forget(UUID mailbox) {
    synchronized (numbers) {
      numbers.remove(mailbox);
    }
  }
}
