// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.mail.store.Numbers;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class KnownNumbersTest {
  private final KnownNumbers known = new KnownNumbers();
  private final UUID mailbox = UUID.randomUUID();

  @Test
  void whenNumbersWereWrittenThenTheyAreKnownUntilTheyAreForgotten() {
    assertThat(known.of(mailbox)).isEmpty();
    known.are(mailbox, Numbers.INITIAL);
    assertThat(known.of(mailbox)).contains(Numbers.INITIAL);
    known.forget(mailbox);
    assertThat(known.of(mailbox)).isEmpty();
  }

  @Test
  void whenThereAreTooManyMailboxesThenThoseGoThatWereOfNoUseForLongest() {
    UUID second = UUID.randomUUID();
    known.are(mailbox, Numbers.INITIAL);
    known.are(second, Numbers.INITIAL);
    for (int i = 0; i < KnownNumbers.MAX_MAILBOXES - 1; i++) {
      assertThat(known.of(mailbox)).isPresent();
      known.are(UUID.randomUUID(), Numbers.INITIAL);
    }
    assertThat(known.of(second)).isEmpty();
    assertThat(known.of(mailbox)).isPresent();
  }

  @Test
  void whenAMailboxHasManyKeywordsThenItsNumbersAreNotKept() {
    known.are(mailbox, withKeyword(KnownNumbers.MAX_KEYWORD_CHARACTERS));
    assertThat(known.of(mailbox)).isPresent();
    known.forget(mailbox);
    known.are(mailbox, withKeyword(KnownNumbers.MAX_KEYWORD_CHARACTERS + 1));
    assertThat(known.of(mailbox)).isEmpty();
  }

  private static Numbers withKeyword(int characters) {
    return new Numbers(1, 0, 0, 0, Set.of("k".repeat(characters)));
  }
}
