// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import io.netty.channel.EventLoop;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.TimeUnit;

/** The few threads on which all watchers live, whichever system they watch. */
final class WatcherLoops implements AutoCloseable {
  private static final int THREADS = 2;
  private static final int MAX_CLOSE_SECONDS = 5;

  private final NioEventLoopGroup group =
      new NioEventLoopGroup(THREADS, new DefaultThreadFactory("bench-watchers", true));

  EventLoop next() {
    return group.next();
  }

  @Override
  public void close() {
    group
        .shutdownGracefully(0, MAX_CLOSE_SECONDS, TimeUnit.SECONDS)
        .awaitUninterruptibly(MAX_CLOSE_SECONDS, TimeUnit.SECONDS);
  }
}
