// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.mail;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;

/**
 * A message: a short header and lines of random text. What it says follows from its number, so what
 * came into an inbox can be compared with what was sent.
 *
 * @param id its Message-ID, without brackets; no other message has it
 * @param number where its text starts
 * @param recipient an address
 * @param bytes of all of it, but for less than a line
 */
record Letter(String id, long number, String recipient, int bytes) {
  static final int MAX_BYTES = 4 << 20;
  static final int MIN_BYTES = 1024;

  /** What the sender is called, in the envelope too. */
  static final String SENDER = "postal@example.com";

  private static final int LINE_BYTES = 78;
  private static final int LINES = MAX_BYTES / LINE_BYTES;
  private static final String ALPHABET =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  private static final byte[] TEXT = text();

  /** Another line than that of the next message. */
  private static final int STEP = 101;

  private static byte[] text() {
    Random random = new Random(6);
    byte[] text = new byte[2 * LINES * LINE_BYTES];
    for (int i = 0; i < text.length; i++) {
      text[i] =
          switch (i % LINE_BYTES) {
            case LINE_BYTES - 2 -> '\r';
            case LINE_BYTES - 1 -> '\n';
            default -> (byte) ALPHABET.charAt(random.nextInt(ALPHABET.length()));
          };
    }
    return text;
  }

  private byte[] header() {
    return """
        From: <%s>
        To: <%s>
        Subject: message %d
        Message-ID: <%s>

        """
        .formatted(SENDER, recipient, number, id)
        .replace("\n", "\r\n")
        .getBytes(StandardCharsets.US_ASCII);
  }

  private int bodyStart() {
    return (int) (number * STEP % LINES) * LINE_BYTES;
  }

  private int bodyBytes() {
    return (bytes - header().length) / LINE_BYTES * LINE_BYTES;
  }

  /** Writes it as SMTP has it, without the dot at its end: no line starts with one. */
  void writeTo(OutputStream out) throws IOException {
    out.write(header());
    out.write(TEXT, bodyStart(), bodyBytes());
  }

  /** Whether a body is that of this message. */
  boolean hasBody(InputStream body) throws IOException {
    byte[] found = body.readNBytes(bodyBytes() + 1);
    return Arrays.equals(found, 0, found.length, TEXT, bodyStart(), bodyStart() + bodyBytes());
  }
}
