// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.connection;

import java.time.Duration;

/**
 * The bounds of each port of a mail server. docs/mail.md says what a client sees at each of them.
 *
 * @param maxConnections of all clients
 * @param maxConnectionsPerAddress of one IP address
 * @param maxLineBytes of a line that a client sends, with its end
 * @param maxMessageBytes of a message that a client sends
 * @param maxReceivingBytes of memory for all messages that the server is receiving by SMTP; each
 *     takes twice its bytes
 * @param maxRecipients of a message
 * @param maxCommandsBeforeLogin of a connection whose client has not logged in; SMTP has its own
 * @param idle how long a client may be silent while nothing is sent to it
 * @param beforeLogin how long a client may take to log in; SMTP has its own
 */
public record MailBounds(
    int maxConnections,
    int maxConnectionsPerAddress,
    int maxLineBytes,
    int maxMessageBytes,
    long maxReceivingBytes,
    int maxRecipients,
    int maxCommandsBeforeLogin,
    Duration idle,
    Duration beforeLogin) {

  /** Clients send commands without waiting for answers, and James reads a whole line at once. */
  private static final int MIN_LINE_BYTES = 2_048;

  public MailBounds {
    check(maxConnections > 0 && maxConnectionsPerAddress > 0, "Some connections must be allowed.");
    check(maxLineBytes >= MIN_LINE_BYTES, "Lines of 2,048 bytes must be allowed.");
    check(maxMessageBytes > 0, "Some bytes of a message must be allowed.");
    check(
        maxReceivingBytes / 2 >= maxMessageBytes,
        "The messages that are being received must have room for the largest message, twice.");
    check(maxRecipients > 0, "A message must be allowed to have a recipient.");
    check(maxCommandsBeforeLogin > 2, "A client needs some commands to log in.");
    check(idle.toMillis() > 0 && beforeLogin.toMillis() > 0, "Clients need some time.");
  }

  /** The defaults. */
  public static MailBounds standard() {
    return new MailBounds(
        2_000,
        200,
        64 << 10,
        50 << 20,
        256L << 20,
        100,
        50,
        Duration.ofMinutes(10),
        Duration.ofMinutes(1));
  }

  public MailBounds withConnections(int all, int perAddress) {
    return new MailBounds(
        all,
        perAddress,
        maxLineBytes,
        maxMessageBytes,
        maxReceivingBytes,
        maxRecipients,
        maxCommandsBeforeLogin,
        idle,
        beforeLogin);
  }

  public MailBounds withMessageBytes(int ofOne, long ofAll) {
    return new MailBounds(
        maxConnections,
        maxConnectionsPerAddress,
        maxLineBytes,
        ofOne,
        ofAll,
        maxRecipients,
        maxCommandsBeforeLogin,
        idle,
        beforeLogin);
  }

  public MailBounds withTimes(Duration idle, Duration beforeLogin) {
    return new MailBounds(
        maxConnections,
        maxConnectionsPerAddress,
        maxLineBytes,
        maxMessageBytes,
        maxReceivingBytes,
        maxRecipients,
        maxCommandsBeforeLogin,
        idle,
        beforeLogin);
  }

  private static void check(boolean isAllowed, String message) {
    if (!isAllowed) {
      throw new IllegalArgumentException(message);
    }
  }
}
