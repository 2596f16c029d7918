// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.login;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

/**
 * Hashes of passwords: PBKDF2 with HMAC-SHA-512 and a salt for each. The text of a hash has all
 * that is needed to check a password: {@code pbkdf2-sha512$iterations$salt$hash}.
 */
public final class PasswordHash {

  /** What OWASP recommends for this function in 2026; a check then takes 0.1 to 0.3 s. */
  public static final int ITERATIONS = 210_000;

  private static final String NAME = "pbkdf2-sha512";
  private static final String FUNCTION = "PBKDF2WithHmacSHA512";
  private static final int SALT_BYTES = 16;
  private static final int HASH_BITS = 256;

  /** A hash with more would keep a thread busy for minutes. */
  public static final int MAX_ITERATIONS = 10_000_000;

  private static final SecureRandom random = new SecureRandom();

  private PasswordHash() {}

  /**
   * Hashes a new password.
   *
   * @param iterations the work of who guesses
   */
  public static String of(CharSequence password, int iterations) {
    byte[] salt = new byte[SALT_BYTES];
    random.nextBytes(salt);
    return text(iterations, salt, derive(password, salt, iterations));
  }

  private static String text(int iterations, byte[] salt, byte[] hash) {
    Base64.Encoder base64 = Base64.getEncoder().withoutPadding();
    return "%s$%d$%s$%s"
        .formatted(NAME, iterations, base64.encodeToString(salt), base64.encodeToString(hash));
  }

  /** The text of a hash that no password has, without the work of making one. */
  static String ofNobody(int iterations) {
    byte[] salt = new byte[SALT_BYTES];
    random.nextBytes(salt);
    byte[] hash = new byte[HASH_BITS / Byte.SIZE];
    random.nextBytes(hash);
    return text(iterations, salt, hash);
  }

  /** Whether a password is the one of a hash; a text that is no hash has no password. */
  public static boolean matches(CharSequence password, String hash) {
    String[] parts = hash.split("\\$", -1);
    if (parts.length != 4 || !parts[0].equals(NAME)) {
      return false;
    }
    try {
      int iterations = Integer.parseInt(parts[1]);
      if (iterations < 1 || iterations > MAX_ITERATIONS) {
        return false;
      }
      byte[] salt = Base64.getDecoder().decode(parts[2]);
      byte[] expected = Base64.getDecoder().decode(parts[3]);
      return salt.length > 0 && MessageDigest.isEqual(expected, derive(password, salt, iterations));
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static byte[] derive(CharSequence password, byte[] salt, int iterations) {
    PBEKeySpec key = new PBEKeySpec(password.toString().toCharArray(), salt, iterations, HASH_BITS);
    try {
      return SecretKeyFactory.getInstance(FUNCTION).generateSecret(key).getEncoded();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Java has no " + FUNCTION, e);
    } finally {
      key.clearPassword();
    }
  }
}
