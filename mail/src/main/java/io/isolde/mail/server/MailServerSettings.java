// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import io.isolde.mail.connection.MailBounds;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/**
 * Settings of a mail server.
 *
 * @param address of the ports; a name or an IP address
 * @param smtpPort for SMTP; 0 is any that is free
 * @param pop3Port for POP3; 0 is any that is free
 * @param imapPort for IMAP; 0 is any that is free
 * @param hostName how the server calls itself
 * @param isClearAllowed whether passwords may come without TLS; false is the safe one
 * @param tls the server's certificate and key; without it clients can't encrypt
 * @param workers threads that wait for the database; too few, and clients wait for each other
 */
public record MailServerSettings(
    String address,
    int smtpPort,
    int pop3Port,
    int imapPort,
    String hostName,
    boolean isClearAllowed,
    Optional<SSLContext> tls,
    int workers,
    MailBounds bounds) {

  /** The default number of workers. */
  public static final int WORKERS = 32;

  public MailServerSettings {
    for (int port : new int[] {smtpPort, pop3Port, imapPort}) {
      if (port < 0 || port > 65_535) {
        throw new IllegalArgumentException("%d is no port: say 0 to 65535.".formatted(port));
      }
    }
    if (workers < 1) {
      throw new IllegalArgumentException("A mail server needs one worker at least.");
    }
    if (!isClearAllowed && tls.isEmpty()) {
      throw new IllegalArgumentException(
          "Nobody could log in: passwords need TLS, and there is no certificate. Give the server"
              + " one, or allow passwords in clear.");
    }
  }
}
