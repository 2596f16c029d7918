// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;

/**
 * What a delivery is known by if its sender repeats it. The mailbox has an entry under it, which is
 * written with the message: both or none.
 *
 * @param hash SHA-256 in hexadecimal digits
 */
public record DeliveryId(String hash) {

  /** Senders try again for some days, but seldom after the first hours. */
  public static final Duration REMEMBERED = Duration.ofDays(2);

  private static final int DIGITS = 64;
  private static final int DIGITS_OF_LONG = 16;

  public DeliveryId {
    if (hash.length() != DIGITS) {
      throw new IllegalArgumentException("A SHA-256 has %d digits.".formatted(DIGITS));
    }
  }

  /**
   * The id of a message for a recipient.
   *
   * @param digest of the bytes that the sender repeats
   */
  public static DeliveryId of(byte[] digest, String sender, String recipient) {
    try {
      MessageDigest id = MessageDigest.getInstance("SHA-256");
      id.update(digest);
      id.update((recipient + "\0" + sender).getBytes(StandardCharsets.UTF_8));
      return new DeliveryId(HexFormat.of().formatHex(id.digest()));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Java has no SHA-256", e);
    }
  }

  /**
   * Where the entry is among the messages of a mailbox: below zero, where no UID is. Two ids may
   * have the same place; then the later entry replaces the earlier one.
   */
  public long place() {
    long place = Long.parseUnsignedLong(hash, 0, DIGITS_OF_LONG, 16) | Long.MIN_VALUE;
    return place == Long.MIN_VALUE ? -1 : place; // the least one is not for entries
  }
}
