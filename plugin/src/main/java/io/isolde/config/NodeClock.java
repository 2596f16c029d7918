// SPDX-License-Identifier: Apache-2.0
package io.isolde.config;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.apache.cassandra.utils.Clock.Global;

/** The wall clock of this node: Cassandra's, which {@code -Dcassandra.clock} replaces. */
public final class NodeClock extends Clock {
  public static final Clock INSTANCE = new NodeClock();

  private NodeClock() {}

  /** Milliseconds since 1970. */
  public static long nowMillis() {
    return Global.currentTimeMillis();
  }

  @Override
  public long millis() {
    return nowMillis();
  }

  @Override
  public Instant instant() {
    return Instant.ofEpochMilli(nowMillis());
  }

  @Override
  public ZoneId getZone() {
    return ZoneOffset.UTC;
  }

  @Override
  public Clock withZone(ZoneId zone) {
    throw new UnsupportedOperationException("Nobody here asks for the time of a place.");
  }
}
