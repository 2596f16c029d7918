// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;

/** A client that sends what no client of a library would. */
public final class RawClient implements AutoCloseable {
  private static final int MAX_WAIT_MILLIS = 20_000;

  private final Socket socket;
  private final BufferedReader in;
  private final OutputStream out;

  public RawClient(int port) throws IOException {
    this(port, "127.0.0.1");
  }

  /**
   * A client with an address of its own.
   *
   * @param address of this machine, as 127.0.0.2
   */
  RawClient(int port, String address) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port, InetAddress.getByName(address), 0);
    socket.setSoTimeout(MAX_WAIT_MILLIS);
    in =
        new BufferedReader(
            new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
    out = socket.getOutputStream();
  }

  /** The next line; null if the server has closed the connection. */
  public String read() throws IOException {
    try {
      return in.readLine();
    } catch (SocketException e) {
      return null;
    }
  }

  /** Reads up to the end of an answer of SMTP; the last line. */
  public String readAnswer() throws IOException {
    String line = read();
    while (line != null && line.length() > 3 && line.charAt(3) == '-') {
      line = read();
    }
    return line;
  }

  /** Reads up to the answer with a tag, of IMAP. */
  String readTagged(String tag) throws IOException {
    String line = read();
    while (line != null && !line.startsWith(tag + " ")) {
      line = read();
    }
    return line;
  }

  /** Reads up to a line that contains a text. */
  String readUntil(String text) throws IOException {
    String line = read();
    while (line != null && !line.contains(text)) {
      line = read();
    }
    return line;
  }

  public void send(String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.ISO_8859_1));
    out.flush();
  }

  /** Sends as much as the server takes; false if it has closed the connection meanwhile. */
  boolean trySend(String text) {
    try {
      send(text);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Says something, and returns the last line of the answer. */
  public String say(String line) throws IOException {
    send(line + "\r\n");
    return readAnswer();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
