// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.cluster;

import com.datastax.oss.driver.api.core.addresstranslation.AddressTranslator;
import com.datastax.oss.driver.api.core.context.DriverContext;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A way from clients to a node that can be muted: requests go on to arrive, answers do not. Drivers
 * with the {@link Translator} take it.
 */
final class MutableLink implements AutoCloseable {
  private static final Map<InetSocketAddress, InetSocketAddress> LINKS = new ConcurrentHashMap<>();

  private final InetSocketAddress node;
  private final ServerSocket server;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private volatile boolean isMute;

  MutableLink(InetSocketAddress node) throws IOException {
    this.node = node;
    this.server = new ServerSocket(0, 50, node.getAddress());
    LINKS.put(node, address());
    run("accept", this::accept);
  }

  InetSocketAddress address() {
    return new InetSocketAddress(server.getInetAddress(), server.getLocalPort());
  }

  /** From now on no answer arrives any more. */
  void mute() {
    isMute = true;
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket client = server.accept();
        sockets.add(client);
        Socket target = new Socket(node.getAddress(), node.getPort());
        sockets.add(target);
        run("requests", () -> pump(client, target, false));
        run("answers", () -> pump(target, client, true));
      } catch (IOException nodeIsDown) {
        sockets.forEach(MutableLink::close);
      }
    }
  }

  private void pump(Socket from, Socket to, boolean isAnswers) {
    try (InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream()) {
      byte[] buffer = new byte[8192];
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        if (!isAnswers || !isMute) {
          out.write(buffer, 0, read);
        }
      }
    } catch (IOException ended) {
      // As connections do when one of their sides dies.
    } finally {
      close(from);
      close(to);
    }
  }

  private static void run(String name, Runnable task) {
    Thread thread = new Thread(task, "link-" + name);
    thread.setDaemon(true);
    thread.start();
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    LINKS.remove(node);
    server.close();
    sockets.forEach(MutableLink::close);
  }

  /** Sends a driver to the links where there are any. Made by the driver. */
  public static final class Translator implements AddressTranslator {
    public Translator(DriverContext context) {}

    @Override
    public InetSocketAddress translate(InetSocketAddress address) {
      return LINKS.getOrDefault(address, address);
    }

    @Override
    public void close() {}
  }
}
