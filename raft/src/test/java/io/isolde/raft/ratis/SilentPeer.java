// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** Greets back and then answers nothing, like a peer whose connections hang. */
final class SilentPeer implements Closeable {
  private final ServerSocket server = new ServerSocket();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicInteger unanswered = new AtomicInteger();

  SilentPeer(InetSocketAddress address) throws IOException {
    server.setReuseAddress(true);
    server.bind(address);
    var unused = threads.submit(this::accept);
  }

  /** How many have been opened so far. */
  int connections() {
    return connections.get();
  }

  /** On how many something has been asked. */
  int unanswered() {
    return unanswered.get();
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket socket = server.accept();
        connections.incrementAndGet();
        var unused = threads.submit(() -> greetAndSwallow(socket));
      } catch (IOException e) {
        return; // It is closed.
      }
    }
  }

  private void greetAndSwallow(Socket socket) {
    try (socket) {
      InputStream in = socket.getInputStream();
      OutputStream out = socket.getOutputStream();
      byte[] length = in.readNBytes(Integer.BYTES);
      byte[] greeting = in.readNBytes(ByteBuffer.wrap(length).getInt());
      out.write(length);
      out.write(greeting);
      out.flush();
      if (in.read() >= 0) {
        unanswered.incrementAndGet();
        in.transferTo(OutputStream.nullOutputStream());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    threads.shutdownNow();
  }
}
