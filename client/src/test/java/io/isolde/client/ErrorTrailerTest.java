// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class ErrorTrailerTest {
  private static final UUID ID = UUID.fromString("11111111-2222-4333-8444-555555555555");

  @Test
  void whenAMessageEndsWithATrailerThenItsEntriesAreRead() {
    ErrorTrailer trailer =
        ErrorTrailer.parse(
                "Row 7 was changed. [isolde code=CONFLICT retryable=true outcome=not_committed"
                    + " table=bank.accounts key=7 transaction="
                    + ID
                    + "]")
            .orElseThrow();

    assertThat(trailer.code()).isEqualTo(ErrorCode.CONFLICT);
    assertThat(trailer.isRetryable()).isTrue();
    assertThat(trailer.outcome()).isEqualTo(Outcome.NOT_COMMITTED);
    assertThat(trailer.transaction()).contains(ID);
    assertThat(trailer.entries()).contains(entry("table", "bank.accounts"), entry("key", "7"));
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(
      strings = {
        "",
        "unconfigured table accounts",
        "[isolde ]",
        "[isolde retryable=true]",
        "[isolde code=CONFLICT] and more",
        "isolde code=CONFLICT]"
      })
  void whenAMessageHasNoTrailerAtItsEndThenNoneIsFound(String message) {
    assertThat(ErrorTrailer.parse(message)).isEmpty();
  }

  @Test
  void whenTheSentenceQuotesATrailerThenTheLastOneCounts() {
    ErrorTrailer trailer =
        ErrorTrailer.parse("Value '[isolde code=CONFLICT]' is wrong. [isolde code=UNSUPPORTED_DDL]")
            .orElseThrow();

    assertThat(trailer.code()).isEqualTo(ErrorCode.UNSUPPORTED_DDL);
  }

  @ParameterizedTest
  @EnumSource(
      value = ErrorCode.class,
      names = {"UNKNOWN"},
      mode = EnumSource.Mode.EXCLUDE)
  void whenTheCodeIsKnownThenItIsReadByItsName(ErrorCode code) {
    assertThat(ErrorTrailer.parse("[isolde code=" + code + "]").orElseThrow().code())
        .isEqualTo(code);
  }

  @Test
  void whenTheCodeIsOfALaterVersionThenItIsUnknownAndItsNameIsKept() {
    ErrorTrailer trailer =
        ErrorTrailer.parse("[isolde code=TOO_LATE outcome=perhaps retryable=maybe]").orElseThrow();

    assertThat(trailer.code()).isEqualTo(ErrorCode.UNKNOWN);
    assertThat(trailer.outcome()).isEqualTo(Outcome.UNKNOWN);
    assertThat(trailer.isRetryable()).isFalse();
    assertThat(trailer.entries()).containsEntry("code", "TOO_LATE");
  }

  @Test
  void whenValuesArePercentEncodedThenTheyAreDecodedAsUtf8() {
    ErrorTrailer trailer =
        ErrorTrailer.parse("[isolde code=CONFLICT key=%5Ba%20%3D%20100%25%5D%c3%a4]").orElseThrow();

    assertThat(trailer.entries()).containsEntry("key", "[a = 100%]ä");
  }

  @ParameterizedTest
  @ValueSource(strings = {"%", "%4", "%zz", "a%2", "%-1"})
  void whenAnEncodingIsBrokenThenTheTextIsKept(String value) {
    assertThat(
            ErrorTrailer.parse("[isolde code=CONFLICT key=" + value + "]").orElseThrow().entries())
        .containsEntry("key", value);
  }

  @Test
  void whenEntriesAreMalformedOrRepeatedThenTheOthersAreRead() {
    ErrorTrailer trailer =
        ErrorTrailer.parse("[isolde  code=CONFLICT =x word code=OTHER key= transaction=7]")
            .orElseThrow();

    assertThat(trailer.entries())
        .containsExactly(entry("code", "CONFLICT"), entry("key", ""), entry("transaction", "7"));
    assertThat(trailer.transaction()).isEmpty();
  }

  @Test
  void whenATrailerIsWrittenThenReadingGivesItBack() {
    Map<String, String> entries = new LinkedHashMap<>();
    entries.put("code", "CONFLICT");
    entries.put("key", "a [b] = 100% ö 🙂\n");
    ErrorTrailer trailer = new ErrorTrailer(entries);

    assertThat(ErrorTrailer.parse("Sentence. " + trailer)).contains(trailer);
  }
}
