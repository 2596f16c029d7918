// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;

/** Asks a node whether it serves CQL: sends OPTIONS and expects SUPPORTED. */
final class CqlProbe {

  /** Protocol version 4, no flags, stream 0, opcode OPTIONS, no body. */
  private static final byte[] OPTIONS = {0x04, 0, 0, 0, 0x05, 0, 0, 0, 0};

  private static final byte SUPPORTED = 0x06;
  private static final int OPCODE_INDEX = 4;
  private static final int TIMEOUT_MILLIS = 2_000;

  private CqlProbe() {}

  static boolean answers(String address, int port) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(address, port), TIMEOUT_MILLIS);
      socket.setSoTimeout(TIMEOUT_MILLIS);
      socket.getOutputStream().write(OPTIONS);
      byte[] header = new byte[OPTIONS.length];
      new DataInputStream(socket.getInputStream()).readFully(header);
      return header[OPCODE_INDEX] == SUPPORTED;
    } catch (IOException notServing) {
      return false;
    }
  }
}
