// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.mail;

import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Sends messages as Postal does: a connection for each, and the next command after an answer. */
final class SmtpSender {
  /** Less than those who wait for the last answers of a round. */
  private static final int MAX_WAIT_MILLIS = 50_000;

  private static final int BUFFER_BYTES = 64 << 10;

  private final InetSocketAddress server;

  SmtpSender(InetSocketAddress server) {
    this.server = server;
  }

  /**
   * Returns when the server has answered that it has the message.
   *
   * @throws IOException if it says something else, or nothing in time
   */
  void send(Letter letter) throws IOException {
    try (Socket socket = new Socket()) {
      socket.setSoTimeout(MAX_WAIT_MILLIS);
      socket.setTcpNoDelay(true);
      socket.connect(server, MAX_WAIT_MILLIS);
      Dialog dialog = new Dialog(socket);
      dialog.expect("220");
      dialog.say("EHLO bench.example.com", "250");
      dialog.say("MAIL FROM:<%s>".formatted(Letter.SENDER), "250");
      dialog.say("RCPT TO:<%s>".formatted(letter.recipient()), "250");
      dialog.say("DATA", "354");
      letter.writeTo(dialog.out);
      dialog.say(".", "250");
      dialog.say("QUIT", "221");
    }
  }

  private static final class Dialog {
    private final OutputStream out;
    private final BufferedReader in;

    Dialog(Socket socket) throws IOException {
      out = new BufferedOutputStream(socket.getOutputStream(), BUFFER_BYTES);
      in =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
    }

    void say(String line, String expected) throws IOException {
      out.write((line + "\r\n").getBytes(StandardCharsets.US_ASCII));
      out.flush();
      expect(expected);
    }

    /** Reads an answer, which may have several lines: all but the last have a hyphen. */
    void expect(String code) throws IOException {
      String line;
      do {
        line = in.readLine();
        if (line == null || !line.startsWith(code)) {
          throw new IOException("The mail server said: %s.".formatted(line));
        }
      } while (line.length() > code.length() && line.charAt(code.length()) == '-');
    }
  }
}
