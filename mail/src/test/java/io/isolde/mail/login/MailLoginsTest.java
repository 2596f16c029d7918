// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.login;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.mail.login.MailLogins.Verdict;
import java.net.InetAddress;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class MailLoginsTest {
  private static final int CHEAP = 100;
  private static final String ALICE = "alice@isolde.test";

  private final Map<String, String> hashes = new ConcurrentHashMap<>();
  private final AtomicLong now = new AtomicLong();
  private final MailLogins logins =
      new MailLogins(
          address -> Optional.ofNullable(hashes.get(address)), "isolde.test", now::get, CHEAP);

  private InetAddress home;
  private InetAddress elsewhere;

  @BeforeEach
  void addAlice() throws Exception {
    home = InetAddress.getByName("192.0.2.1");
    elsewhere = InetAddress.getByName("192.0.2.2");
    hashes.put(ALICE, PasswordHash.of("secret", CHEAP));
  }

  @Test
  void whenThePasswordIsRightThenTheNameMayLackTheDomainAndBeInCapitals() {
    assertThat(logins.check(ALICE, "secret", home)).isEqualTo(Verdict.WELCOME);
    assertThat(logins.check("Alice", "secret", home)).isEqualTo(Verdict.WELCOME);
    assertThat(logins.check("alice@elsewhere.test", "secret", home)).isEqualTo(Verdict.WRONG);
  }

  @Test
  void whenNobodyHasTheNameThenTheAnswerIsThatOfAWrongPassword() {
    assertThat(logins.check("carol", "secret", home)).isEqualTo(Verdict.WRONG);
    assertThat(logins.check(ALICE, "wrong", home)).isEqualTo(Verdict.WRONG);
  }

  @Test
  void whenSomebodyGuessesAPasswordFromManyAddressesThenTheUserIsPaused() throws Exception {
    int looks = 0;
    for (int i = 1; i <= 100; i++) {
      InetAddress address = InetAddress.getByName("192.0.2." + i);
      looks += logins.check(ALICE, "guess" + i, address) == Verdict.WRONG ? 1 : 0;
    }
    assertThat(looks).isEqualTo(MailLogins.MAX_FREE_FAILURES_OF_USER + 1);
    assertThat(logins.check(ALICE, "secret", elsewhere)).isEqualTo(Verdict.LATER);
    now.addAndGet(GuessLimit.MAX_PAUSE_MILLIS);
    assertThat(logins.check(ALICE, "secret", elsewhere)).isEqualTo(Verdict.WELCOME);
  }

  @Test
  void whenAUserHasLoggedInFromAnAddressThenGuessesFromElsewhereDoNotLockTheUserOutThere()
      throws Exception {
    assertThat(logins.check(ALICE, "secret", home)).isEqualTo(Verdict.WELCOME);
    now.addAndGet(MailLogins.HOME_MILLIS - 1);
    guessFromEverywhere();
    assertThat(logins.check(ALICE, "secret", elsewhere)).isEqualTo(Verdict.LATER);
    assertThat(logins.check(ALICE, "secret", home)).isEqualTo(Verdict.WELCOME);
    now.addAndGet(MailLogins.HOME_MILLIS);
    guessFromEverywhere();
    assertThat(logins.check(ALICE, "secret", home)).as("a day later").isEqualTo(Verdict.LATER);
  }

  @Test
  void whenSomebodyGuessesFromWhereTheUserLogsInThenTheAddressIsPaused() {
    assertThat(logins.check(ALICE, "secret", home)).isEqualTo(Verdict.WELCOME);
    int looks = 0;
    for (int i = 1; i <= 100; i++) {
      looks += logins.check(ALICE, "guess" + i, home) == Verdict.WRONG ? 1 : 0;
    }
    assertThat(looks).isEqualTo(MailLogins.MAX_FREE_FAILURES_OF_ADDRESS + 1);
  }

  private void guessFromEverywhere() throws Exception {
    for (int i = 1; i <= 50; i++) {
      logins.check(ALICE, "guess", InetAddress.getByName("198.51.100." + i));
    }
  }

  @Test
  void whenAHostHasManyAddressesOfANetworkThenItsGuessesCountTogether() throws Exception {
    int looks = 0;
    for (int i = 1; i <= 100; i++) {
      InetAddress address = InetAddress.getByName("2001:db8::" + i);
      looks += logins.check("user" + i, "guess", address) == Verdict.WRONG ? 1 : 0;
    }
    assertThat(looks).isEqualTo(MailLogins.MAX_FREE_FAILURES_OF_ADDRESS + 1);
  }

  @Test
  void whenTheDomainHasCapitalsThenTheNameMayLackItAllTheSame() {
    MailLogins capitals =
        new MailLogins(
            address -> Optional.ofNullable(hashes.get(address)), "Isolde.Test", now::get, CHEAP);
    assertThat(capitals.check("alice", "secret", home)).isEqualTo(Verdict.WELCOME);
    assertThat(capitals.isUser("alice")).isTrue();
  }

  @Test
  void whenSomebodyTriesManyUsersFromOneAddressThenTheAddressIsPaused() {
    int looks = 0;
    for (int i = 1; i <= 100; i++) {
      looks += logins.check("user" + i, "guess", home) == Verdict.WRONG ? 1 : 0;
    }
    assertThat(looks).isEqualTo(MailLogins.MAX_FREE_FAILURES_OF_ADDRESS + 1);
    assertThat(logins.check(ALICE, "secret", home)).isEqualTo(Verdict.LATER);
    assertThat(logins.check(ALICE, "secret", elsewhere)).isEqualTo(Verdict.WELCOME);
  }

  @Test
  void whenWhoGuessesHasAnAccountTooThenThatDoesNotHelp() {
    hashes.put("mallory@isolde.test", PasswordHash.of("own", CHEAP));
    int looks = 0;
    for (int i = 1; i <= 100; i++) {
      logins.check("mallory", "own", home);
      looks += logins.check("user" + i, "guess", home) == Verdict.WRONG ? 1 : 0;
    }
    assertThat(looks).isEqualTo(MailLogins.MAX_FREE_FAILURES_OF_ADDRESS + 1);
  }

  @Test
  void whenAPasswordChangesThenTheOldOneIsWrongAtOnce() {
    assertThat(logins.check(ALICE, "secret", home)).isEqualTo(Verdict.WELCOME);
    hashes.put(ALICE, PasswordHash.of("new secret", CHEAP));
    assertThat(logins.check(ALICE, "secret", home)).isEqualTo(Verdict.WRONG);
    assertThat(logins.check(ALICE, "new secret", home)).isEqualTo(Verdict.WELCOME);
  }

  @Test
  void whenAPasswordIsVeryLongThenNobodyHashesIt() {
    hashes.put(ALICE, PasswordHash.of("x".repeat(300), CHEAP));
    assertThat(logins.check(ALICE, "x".repeat(300), home)).isEqualTo(Verdict.WRONG);
  }
}
