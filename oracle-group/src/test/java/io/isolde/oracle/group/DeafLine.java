// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A way to a server on which requests always arrive, and answers get lost when it is asked to. */
final class DeafLine implements AutoCloseable {
  private final ServerSocket door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final InetSocketAddress server;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private volatile boolean isDeaf;

  DeafLine(InetSocketAddress server) throws IOException {
    this.server = server;
    run(this::accept);
  }

  InetSocketAddress address() {
    return (InetSocketAddress) door.getLocalSocketAddress();
  }

  void loseAnswers() {
    isDeaf = true;
  }

  /** On new connections; on the old ones it is not known where the next answer begins. */
  void deliverAnswers() throws IOException {
    closeConnections();
    isDeaf = false;
  }

  private void accept() throws IOException {
    while (true) {
      Socket client = door.accept();
      Socket target = new Socket(server.getAddress(), server.getPort());
      sockets.add(client);
      sockets.add(target);
      run(() -> copy(client.getInputStream(), target.getOutputStream(), false));
      run(() -> copy(target.getInputStream(), client.getOutputStream(), true));
    }
  }

  private void copy(InputStream from, OutputStream to, boolean isAnswers) throws IOException {
    byte[] buffer = new byte[8192];
    for (int length = from.read(buffer); length >= 0; length = from.read(buffer)) {
      if (!isAnswers || !isDeaf) {
        to.write(buffer, 0, length);
      }
    }
  }

  private interface Task {
    void run() throws IOException;
  }

  private static void run(Task task) {
    Thread thread =
        new Thread(
            () -> {
              try {
                task.run();
              } catch (IOException e) {
                // The connection is closed, and with it this end of the line.
              }
            },
            "deaf-line");
    thread.setDaemon(true);
    thread.start();
  }

  private void closeConnections() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
    sockets.clear();
  }

  @Override
  public void close() throws IOException {
    door.close();
    closeConnections();
  }
}
