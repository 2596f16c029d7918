// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.oracle;

import io.isolde.bench.kit.Workload;
import io.isolde.bench.peers.OmidConnection;
import io.isolde.bench.peers.OmidProcess;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

/**
 * The requests of {@link CommitLoad} to Omid, as far as it has them: it is told the ten rows that
 * were written, and neither what was read nor that a commit is applied.
 */
final class OmidLoad implements Workload, AutoCloseable {
  private static final int ROWS_WRITTEN = 10;

  private final EventLoopGroup group;
  private final List<OmidConnection> connections;
  private final AtomicInteger count = new AtomicInteger();
  private final AtomicLong lastStart = new AtomicLong();
  private final AtomicLong newestCommit = new AtomicLong();
  private final LongAdder aborted = new LongAdder();

  OmidLoad(OmidProcess omid, int connectionCount, int threads) {
    group = new NioEventLoopGroup(threads, new DefaultThreadFactory("omid-client-io", true));
    connections =
        IntStream.range(0, connectionCount)
            .mapToObj(i -> new OmidConnection(omid.address(), group))
            .toList();
    connections.forEach(each -> saw(each.firstTimestamp()));
  }

  private void saw(long timestamp) {
    newestCommit.accumulateAndGet(timestamp, Math::max);
  }

  @Override
  public CompletableFuture<?> send() {
    int number = count.getAndIncrement() & Integer.MAX_VALUE;
    long[] writes = new long[ROWS_WRITTEN];
    KeyChooser.uniformOfThisThread().fill(writes);
    long newest = newestCommit.get();
    long start = lastStart.updateAndGet(last -> Math.max(last + 1, newest));
    return connections
        .get(number % connections.size())
        .commit(start, writes)
        .thenAccept(
            commit -> {
              if (commit == 0) {
                aborted.increment();
              } else {
                saw(commit);
              }
            });
  }

  /** Transactions that were decided, but not committed. */
  long aborted() {
    return aborted.sum();
  }

  @Override
  public void close() {
    connections.forEach(OmidConnection::close);
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
  }
}
