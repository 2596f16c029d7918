// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.utils.Clock;

/**
 * A node's clock ({@code -Dcassandra.clock}) that is wrong by as many milliseconds as a file says.
 * The file is read again every 100 ms; while it isn't there the clock is right.
 */
public final class SkewedClock implements Clock {
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Path file = Path.of(System.getProperty(ClockSkew.FILE_PROPERTY));
  private volatile long lookedNanos = System.nanoTime() - LOOK_NANOS;
  private volatile long skewMillis;

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public long currentTimeMillis() {
    long now = System.nanoTime();
    if (now - lookedNanos >= LOOK_NANOS) {
      lookedNanos = now;
      skewMillis = read();
    }
    return System.currentTimeMillis() + skewMillis;
  }

  private long read() {
    try {
      String text = Files.exists(file) ? Files.readString(file).strip() : "";
      return text.isEmpty() ? 0 : Long.parseLong(text);
    } catch (IOException e) {
      return skewMillis;
    }
  }
}
