// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.apache.james.mailbox.model.Content;
import org.junit.jupiter.api.Test;

class InboxDeliveryTest {
  private static final long LARGE = 1L << 40;

  /** More than there is memory for. */
  private static final class Endless extends InputStream {
    @Override
    public int read() {
      return 'x';
    }

    @Override
    public int read(byte[] bytes, int offset, int length) {
      for (int i = 0; i < length; i++) {
        bytes[offset + i] = 'x';
      }
      return length;
    }
  }

  @Test
  void whenHeadersStandBeforeAMessageThenTheMessageIsNotCopied() throws Exception {
    Content content =
        InboxDelivery.behind(
            "A: b\r\n",
            new Content() {
              @Override
              public InputStream getInputStream() {
                return new Endless();
              }

              @Override
              public long size() {
                return LARGE;
              }
            });
    assertThat(content.size()).isEqualTo(LARGE + 6);
    for (int again = 0; again < 2; again++) {
      try (InputStream in = content.getInputStream()) {
        assertThat(new String(in.readNBytes(8), StandardCharsets.US_ASCII)).isEqualTo("A: b\r\nxx");
      }
    }
  }
}
