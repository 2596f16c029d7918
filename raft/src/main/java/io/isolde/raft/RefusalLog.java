// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts refused connections, and logs at most one per address and minute. */
final class RefusalLog {
  private static final Logger log = LoggerFactory.getLogger(PeerTransport.class);
  private static final int REMEMBERED_ADDRESSES = 1000;

  private final LongAdder count = new LongAdder();

  /** When an address was last logged; guarded by itself, the oldest make room. */
  private final Map<InetAddress, Long> loggedNanos =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<InetAddress, Long> eldest) {
          return size() > REMEMBERED_ADDRESSES;
        }
      };

  void refused(InetSocketAddress remote) {
    count.increment();
    long now = System.nanoTime();
    synchronized (loggedNanos) {
      Long last = loggedNanos.get(remote.getAddress());
      if (last != null && now - last < TimeUnit.MINUTES.toNanos(1)) {
        return;
      }
      loggedNanos.put(remote.getAddress(), now);
    }
    log.warn("Refused a connection from {}; it is not among the accepted addresses", remote);
  }

  long count() {
    return count.sum();
  }
}
