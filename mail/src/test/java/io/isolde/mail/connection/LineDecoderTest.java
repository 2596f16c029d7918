// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.TooLongFrameException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LineDecoderTest {
  private static final int MAX_BYTES = 10;

  private final EmbeddedChannel channel = new EmbeddedChannel(new LineDecoder(MAX_BYTES));

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  private void receive(String text) {
    channel.writeInbound(Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1));
  }

  private List<String> lines() {
    List<String> lines = new ArrayList<>();
    for (ByteBuf line; (line = channel.readInbound()) != null; line.release()) {
      lines.add(line.toString(StandardCharsets.ISO_8859_1));
    }
    return lines;
  }

  @Test
  void whenSeveralLinesComeTogetherThenEachIsOneWithItsEnd() {
    receive("QUIT\r\n\r\nNO");
    assertThat(lines()).containsExactly("QUIT\r\n", "\r\n");
    receive("OP\r\n");
    assertThat(lines()).containsExactly("NOOP\r\n");
  }

  @Test
  void whenCrOrLfStandsAloneThenTheLineGoesOn() {
    receive("\na\nb\r.\n\r\r\nc\r\n");
    assertThat(lines()).containsExactly("\na\nb\r.\n\r\r\n", "c\r\n");
  }

  @Test
  void whenAnEndComesInTwoPartsThenItIsAnEnd() {
    receive("a\r");
    assertThat(lines()).isEmpty();
    receive("\nb\r\n");
    assertThat(lines()).containsExactly("a\r\n", "b\r\n");
  }

  @Test
  void whenBytesComeInAnyPartsThenTheLinesAreTheSame() {
    Random random = new Random(42);
    for (int run = 0; run < 2_000; run++) {
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < 30; i++) {
        text.append("\r\nab".charAt(random.nextInt(4)));
      }
      EmbeddedChannel other = new EmbeddedChannel(new LineDecoder(100));
      StringBuilder found = new StringBuilder();
      for (int from = 0; from < text.length(); ) {
        int to = Math.min(text.length(), from + 1 + random.nextInt(5));
        other.writeInbound(
            Unpooled.copiedBuffer(text.substring(from, to), StandardCharsets.ISO_8859_1));
        from = to;
        for (ByteBuf line; (line = other.readInbound()) != null; line.release()) {
          found.append('[').append(line.toString(StandardCharsets.ISO_8859_1)).append(']');
        }
      }
      other.finishAndReleaseAll();
      StringBuilder expected = new StringBuilder();
      String rest = text.toString();
      for (int end; (end = rest.indexOf("\r\n")) >= 0; rest = rest.substring(end + 2)) {
        expected.append('[').append(rest, 0, end + 2).append(']');
      }
      assertThat(found.toString()).as("run %d", run).isEqualTo(expected.toString());
    }
  }

  @Test
  void whenALineHasAsManyBytesAsAllowedThenItIsTaken() {
    receive("0123456789\r");
    receive("\n");
    assertThat(lines()).containsExactly("0123456789\r\n");
  }

  @Test
  void whenALineIsTooLongThenNothingComesAfterIt() {
    assertThatThrownBy(() -> receive("01234567890\r\nQUIT\r\n"))
        .isInstanceOf(TooLongFrameException.class);
    receive("QUIT\r\n");
    assertThat(lines()).isEmpty();
  }

  @Test
  void whenTheEndOfALineDoesNotComeThenItIsTooLongAllTheSame() {
    receive("012345");
    assertThatThrownBy(() -> receive("678901")).isInstanceOf(TooLongFrameException.class);
  }
}
