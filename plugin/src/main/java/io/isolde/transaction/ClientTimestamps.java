// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.config.NodeClock;
import io.isolde.statement.BoundWrite;
import io.isolde.statement.ClientRequest;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.cassandra.service.ClientWarn;

/**
 * Timestamps that requests bring along are not used: a commit or a log gives the timestamps. Most
 * drivers add one to every request, which is about now and means nothing; one that is far from now
 * was set on purpose, so whoever set it is told.
 */
public final class ClientTimestamps {
  /** Clocks of clients are off by less, mostly. */
  private static final long FAR_MICROS = TimeUnit.MINUTES.toMicros(1);

  private static final LongAdder ignored = new LongAdder();

  private ClientTimestamps() {}

  /** Warns the client if its request has a timestamp that is not what a clock says now. */
  public static void warnIfIgnored(List<BoundWrite> writes, ClientRequest request) {
    if (writes.isEmpty()) {
      return;
    }
    // Of all statements of a batch; that of this node's clock if the request has none.
    long givenMicros = writes.get(0).options().getTimestamp(request.state());
    long nowMicros = TimeUnit.MILLISECONDS.toMicros(NodeClock.nowMillis());
    if (Math.abs(givenMicros - nowMicros) > FAR_MICROS) {
      ignored.increment();
      ClientWarn.instance.warn(
          "The timestamp of the request, "
              + givenMicros
              + ", is ignored: Isolde orders the writes of "
              + writes.get(0).statement().metadata()
              + " and gives their timestamps.");
    }
  }

  /** How many requests had one that was ignored and far from now, since this node started. */
  public static long ignored() {
    return ignored.sum();
  }
}
