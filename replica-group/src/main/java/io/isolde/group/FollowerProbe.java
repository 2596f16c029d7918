// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.Peer;
import io.isolde.raft.transport.NodeConnections;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Measures for how long after the answer to a write its followers do not have it, which is how
 * stale reads of followers are. Of some writes the leader asks each follower, at the moment of the
 * answer, to say when it has applied the write. The follower answers as soon as it has, and says
 * how long it waited for that. The write was there after at least that wait, and at most the whole
 * time until the answer came. So no clocks are compared.
 *
 * <p>Bounded: while too many questions are open, further writes are not asked about.
 */
public final class FollowerProbe {
  private static final int MAX_OPEN = 64;

  /** Hears what was measured, on an event loop. */
  public interface Listener {
    /**
     * A follower had a write so long after it had been answered.
     *
     * @param least and most: where that lies, in microseconds
     */
    void onDelay(UUID group, Peer follower, double least, double most);
  }

  private final NodeConnections connections;
  private final AtomicInteger open = new AtomicInteger();
  private volatile Listener listener;
  private volatile int oneIn;

  FollowerProbe(NodeConnections connections) {
    this.connections = connections;
  }

  /**
   * Begins to measure.
   *
   * @param newOneIn of so many entries of a log one is asked about
   */
  void start(int newOneIn, Listener newListener) {
    oneIn = newOneIn;
    listener = newListener;
  }

  /** Whether followers should be asked about an entry. Cheap. */
  boolean isChosen(long index) {
    return listener != null && index % oneIn == 0;
  }

  /** The leader has applied an entry and answers it now. */
  void answered(UUID group, long index, Iterable<Peer> followers) {
    for (Peer follower : followers) {
      if (open.incrementAndGet() > MAX_OPEN) {
        open.decrementAndGet();
        return;
      }
      ask(group, index, follower);
    }
  }

  private void ask(UUID group, long index, Peer follower) {
    ByteBuf question =
        GroupMessages.request(GroupMessages.APPLIED, group, Long.BYTES).writeLong(index);
    // Else the time to connect would count; but then the next question finds it open.
    boolean isMeasured = connections.isConnected(follower.address());
    long askedNanos = System.nanoTime();
    var unused =
        GroupMessages.ask(connections, follower, question)
            .orTimeout(GroupService.APPLIED_MILLIS, TimeUnit.MILLISECONDS)
            .whenComplete(
                (answer, failure) -> {
                  open.decrementAndGet();
                  if (failure == null && isMeasured) {
                    double most = (System.nanoTime() - askedNanos) / 1e3;
                    double waited = Unpooled.wrappedBuffer(answer).readLong() / 1e3;
                    listener.onDelay(group, follower, Math.min(waited, most), most);
                  }
                });
  }
}
