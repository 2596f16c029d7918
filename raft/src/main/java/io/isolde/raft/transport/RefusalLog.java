// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts refused connections, and logs them within the limit of each address. */
final class RefusalLog {
  private static final Logger log = LoggerFactory.getLogger(PeerTransport.class);

  private final LongAdder count = new LongAdder();
  private final LogLimit limit;

  RefusalLog(LogLimit limit) {
    this.limit = limit;
  }

  void refused(InetSocketAddress remote) {
    count.increment();
    if (limit.allows(remote.getAddress())) {
      log.warn("Refused a connection from {}; it is not among the accepted addresses", remote);
    }
  }

  long count() {
    return count.sum();
  }
}
