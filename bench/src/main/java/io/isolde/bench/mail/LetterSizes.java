// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.mail;

/**
 * How large messages are: spread evenly from the least to the most bytes.
 *
 * @param name in the names of cases
 */
record LetterSizes(String name, int minBytes, int maxBytes) {
  private static final int KILOBYTE = 1024;

  /** Small attachments, in the words of the thesis. */
  static final LetterSizes SMALL = new LetterSizes("small", 50 * KILOBYTE, 500 * KILOBYTE);

  /** Large attachments. */
  static final LetterSizes LARGE = new LetterSizes("large", 200 * KILOBYTE, 2048 * KILOBYTE);

  /** The fraction of this number's multiples fills the range from 0 to 1 evenly. */
  private static final double GOLDEN = 0.6180339887498949;

  LetterSizes {
    if (minBytes < Letter.MIN_BYTES || maxBytes < minBytes || maxBytes > Letter.MAX_BYTES) {
      throw new IllegalArgumentException(
          "No messages have %d to %d bytes.".formatted(minBytes, maxBytes));
    }
  }

  /**
   * The bytes of a message. Few messages in a row have nearly the mean of the whole range. So a
   * short round of one store is not one of smaller messages.
   */
  int bytes(long number) {
    double place = number * GOLDEN % 1;
    return minBytes + (int) (place * (maxBytes - minBytes));
  }
}
