// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import java.io.ByteArrayOutputStream;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * The machine-readable end of an error message: {@code [isolde code=CONFLICT retryable=true
 * outcome=not_committed table=bank.accounts key=7]}.
 *
 * <p>Entries are separated by spaces; in values, spaces, brackets, equals and percent signs are
 * percent-encoded as UTF-8. Newer servers may add entries and codes, so nothing but the code is
 * required, and what can't be understood is kept as text.
 */
record ErrorTrailer(Map<String, String> entries) implements Serializable {
  private static final String OPENING = "[isolde ";

  ErrorTrailer {
    entries = Collections.unmodifiableMap(new LinkedHashMap<>(entries));
  }

  /** The trailer of a message; empty if the message is null, has none, or has one without code. */
  static Optional<ErrorTrailer> parse(String message) {
    String text = message == null ? "" : message.stripTrailing();
    int start = text.lastIndexOf(OPENING);
    if (start < 0 || !text.endsWith("]")) {
      return Optional.empty();
    }
    Map<String, String> entries = new LinkedHashMap<>();
    for (String entry :
        text.substring(start + OPENING.length(), text.length() - 1).split(" ", -1)) {
      int equals = entry.indexOf('=');
      if (equals > 0) {
        entries.putIfAbsent(entry.substring(0, equals), decode(entry.substring(equals + 1)));
      }
    }
    return entries.containsKey("code") ? Optional.of(new ErrorTrailer(entries)) : Optional.empty();
  }

  ErrorCode code() {
    return ErrorCode.parse(entries.get("code"));
  }

  boolean isRetryable() {
    return "true".equals(entries.get("retryable"));
  }

  Outcome outcome() {
    return Outcome.parse(entries.get("outcome"));
  }

  Optional<UUID> transaction() {
    String text = entries.get("transaction");
    try {
      return Optional.ofNullable(text).map(UUID::fromString);
    } catch (IllegalArgumentException notAnId) {
      return Optional.empty();
    }
  }

  /** This trailer with one more entry; an entry of that name stays as it is. */
  ErrorTrailer with(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(entries);
    more.putIfAbsent(name, value);
    return new ErrorTrailer(more);
  }

  /** The text form, as a server writes it. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("[isolde");
    entries.forEach(
        (name, value) -> text.append(' ').append(name).append('=').append(encode(value)));
    return text.append(']').toString();
  }

  private static String encode(String value) {
    StringBuilder text = new StringBuilder(value.length());
    value
        .codePoints()
        .forEach(
            character -> {
              if (" []=%".indexOf(character) >= 0 || Character.isISOControl(character)) {
                for (byte octet : Character.toString(character).getBytes(StandardCharsets.UTF_8)) {
                  text.append(String.format("%%%02X", octet & 0xFF));
                }
              } else {
                text.appendCodePoint(character);
              }
            });
    return text.toString();
  }

  private static String decode(String value) {
    ByteArrayOutputStream octets = new ByteArrayOutputStream(value.length());
    byte[] encoded = value.getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < encoded.length; i++) {
      int octet = encoded[i] == '%' ? hexOctet(encoded, i + 1) : -1;
      if (octet >= 0) {
        octets.write(octet);
        i += 2;
      } else {
        octets.write(encoded[i]);
      }
    }
    return octets.toString(StandardCharsets.UTF_8);
  }

  /** The octet written as two hexadecimal digits from {@code at} on, or -1 if there is none. */
  private static int hexOctet(byte[] text, int at) {
    if (at + 1 >= text.length) {
      return -1;
    }
    int high = Character.digit(text[at], 16);
    int low = Character.digit(text[at + 1], 16);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
  }
}
