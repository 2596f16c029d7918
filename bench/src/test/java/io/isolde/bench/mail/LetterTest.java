// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.mail;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class LetterTest {

  private static Letter letter(long number, int bytes) {
    return new Letter("small.7@bench.example.com", number, "user1@example.com", bytes);
  }

  private static String text(Letter letter) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    letter.writeTo(out);
    return out.toString(StandardCharsets.US_ASCII);
  }

  private static byte[] body(Letter letter) throws IOException {
    String text = text(letter);
    return text.substring(text.indexOf("\r\n\r\n") + 4).getBytes(StandardCharsets.US_ASCII);
  }

  @Test
  void whenALetterIsWrittenThenSmtpTakesItAsItIs() throws IOException {
    Letter letter = letter(3, 200_000);

    String text = text(letter);

    assertThat(text).contains("\r\nMessage-ID: <small.7@bench.example.com>\r\n").endsWith("\r\n");
    assertThat(text.length()).isBetween(199_900, 200_000);
    assertThat(List.of(text.split("\r\n", -1)))
        .allSatisfy(
            line ->
                assertThat(line)
                    .doesNotStartWith(".")
                    .doesNotContain("\r", "\n")
                    .hasSizeLessThan(80));
  }

  @Test
  void whenABodyIsThatOfTheLetterThenItIsKnown() throws IOException {
    Letter letter = letter(50, 60_000);
    byte[] body = body(letter);

    assertThat(letter.hasBody(new ByteArrayInputStream(body))).isTrue();
  }

  @Test
  void whenABodyIsShorterLongerOrAnotherOneThenItIsNotThatOfTheLetter() throws IOException {
    Letter letter = letter(50, 60_000);
    byte[] body = body(letter);
    byte[] longer = java.util.Arrays.copyOf(body, body.length + 1);

    assertThat(letter.hasBody(new ByteArrayInputStream(body, 0, body.length - 1))).isFalse();
    assertThat(letter.hasBody(new ByteArrayInputStream(longer))).isFalse();
    body[body.length / 2]++;
    assertThat(letter.hasBody(new ByteArrayInputStream(body))).isFalse();
    assertThat(letter.hasBody(new ByteArrayInputStream(body(letter(51, 60_000))))).isFalse();
  }

  @Test
  void whenAFewLettersFollowEachOtherThenTheirSizesFillTheRange() {
    LetterSizes sizes = LetterSizes.SMALL;
    List<Integer> bytes = LongStream.range(1_000, 1_050).mapToObj(sizes::bytes).toList();

    double middle = (sizes.minBytes() + sizes.maxBytes()) / 2.0;
    assertThat(bytes).allMatch(each -> each >= sizes.minBytes() && each <= sizes.maxBytes());
    assertThat(bytes.stream().mapToInt(Integer::intValue).average().orElseThrow())
        .isCloseTo(middle, within(0.03 * middle));
    assertThat(bytes).anyMatch(each -> each < sizes.minBytes() + 20_000);
    assertThat(bytes).anyMatch(each -> each > sizes.maxBytes() - 20_000);
  }
}
