// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.imap;

import java.net.InetAddress;
import java.util.concurrent.Callable;

/**
 * The address of the client for whom a thread works. James checks passwords without it, but guesses
 * are bounded for each address.
 */
public final class ClientAddress {
  private static final ThreadLocal<InetAddress> current = new ThreadLocal<>();

  private ClientAddress() {}

  /** The client for whom this thread works; this machine if there is none. */
  public static InetAddress current() {
    InetAddress address = current.get();
    return address == null ? InetAddress.getLoopbackAddress() : address;
  }

  static <T> T during(InetAddress address, Callable<T> work) throws Exception {
    current.set(address);
    try {
      return work.call();
    } finally {
      current.remove();
    }
  }
}
