// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.login;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PasswordHashTest {

  @Test
  void whenThePasswordIsRightThenItMatchesAndElseNot() {
    String hash = PasswordHash.of("correct horse", 1_000);
    assertThat(PasswordHash.matches("correct horse", hash)).isTrue();
    assertThat(PasswordHash.matches("correct hors", hash)).isFalse();
    assertThat(PasswordHash.matches("", hash)).isFalse();
  }

  @Test
  void whenTwoUsersHaveTheSamePasswordThenTheirHashesDiffer() {
    assertThat(PasswordHash.of("same", 1_000)).isNotEqualTo(PasswordHash.of("same", 1_000));
  }

  @Test
  void whenATextIsNoHashThenNoPasswordMatches() {
    String hash = PasswordHash.of("secret", 1_000);
    for (String text :
        new String[] {
          "",
          "secret",
          hash.replace("pbkdf2-sha512", "md5"),
          hash.replace("$1000$", "$x$"),
          hash.replace("$1000$", "$0$"),
          hash.replace("$1000$", "$2000000000$"),
          "pbkdf2-sha512$1000$$",
          hash + "$",
        }) {
      assertThat(PasswordHash.matches("secret", text)).as(text).isFalse();
    }
  }

  @Test
  void whenAHashIsMadeByDefaultThenItTakesAsManyIterationsAsItShould() {
    assertThat(PasswordHash.of("secret", PasswordHash.ITERATIONS))
        .startsWith("pbkdf2-sha512$210000$");
  }

  @Test
  void whenAHashIsOfNobodyThenItHasTheWorkOfOthersAndNoPassword() {
    String hash = PasswordHash.ofNobody(1_000);
    assertThat(hash).startsWith("pbkdf2-sha512$1000$").hasSameSizeAs(PasswordHash.of("x", 1_000));
    assertThat(PasswordHash.matches("", hash)).isFalse();
  }
}
