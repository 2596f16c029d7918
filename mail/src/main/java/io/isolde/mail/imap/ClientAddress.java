// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.imap;

import java.net.InetAddress;
import java.util.concurrent.Callable;
import reactor.core.scheduler.Schedulers;

/**
 * The address of the client for whom a thread works. James checks passwords without it, but guesses
 * are bounded for each address.
 */
public final class ClientAddress {
  private static final ThreadLocal<InetAddress> current = new ThreadLocal<>();

  static {
    // James checks passwords on threads of Reactor.
    Schedulers.onScheduleHook(ClientAddress.class.getName(), ClientAddress::carried);
  }

  private ClientAddress() {}

  private static Runnable carried(Runnable task) {
    InetAddress address = current.get();
    return address == null
        ? task
        : () -> {
          InetAddress before = current.get();
          current.set(address);
          try {
            task.run();
          } finally {
            restore(before);
          }
        };
  }

  private static void restore(InetAddress before) {
    if (before == null) {
      current.remove();
    } else {
      current.set(before);
    }
  }

  /** The client for whom this thread works; this machine if there is none. */
  public static InetAddress current() {
    InetAddress address = current.get();
    return address == null ? InetAddress.getLoopbackAddress() : address;
  }

  static <T> T during(InetAddress address, Callable<T> work) throws Exception {
    InetAddress before = current.get();
    current.set(address);
    try {
      return work.call();
    } finally {
      restore(before);
    }
  }
}
