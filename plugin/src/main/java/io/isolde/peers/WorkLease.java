// SPDX-License-Identifier: Apache-2.0
package io.isolde.peers;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Something that one node of the cluster does at a time, as long as it asks again from time to
 * time. More than half of the nodes have promised that nobody else does it. For one thread.
 */
public final class WorkLease implements AutoCloseable {
  /** Promises last {@link ReservedNames#MAX_MILLIS}, from a moment after they were asked for. */
  private static final long CERTAIN_MILLIS = ReservedNames.MAX_MILLIS / 2;

  private static final long RENEW_MILLIS = ReservedNames.MAX_MILLIS / 6;

  /** For so long a holder that has died keeps others out, and then some. */
  public static final long MAX_WAIT_MILLIS = ReservedNames.MAX_MILLIS + 15_000;

  private static final int MIN_PAUSE_MILLIS = 100;
  private static final int MAX_PAUSE_MILLIS = 500;

  private final NewNames names;
  private final NewName work;

  /** Another one for each attempt: a message of the one before may come late. */
  private final UUID holder = UUID.randomUUID();

  private long askedMillis;

  private WorkLease(NewNames names, NewName work) {
    this.names = names;
    this.work = work;
  }

  /**
   * Waits until nobody else has it.
   *
   * @param work what a keyspace has one of at a time; no name that a table may have
   * @return empty if somebody else has it all that time, or too few nodes answer
   */
  static Optional<WorkLease> take(NewNames names, NewName work, long maxWaitMillis) {
    long startMillis = NewNames.nowMillis();
    do {
      WorkLease lease = new WorkLease(names, work);
      boolean isGranted = false;
      try {
        isGranted = lease.isGranted();
      } finally {
        if (!isGranted) {
          lease.close();
        }
      }
      if (isGranted) {
        return Optional.of(lease);
      }
      Uninterruptibles.sleepUninterruptibly(
          ThreadLocalRandom.current().nextInt(MIN_PAUSE_MILLIS, MAX_PAUSE_MILLIS),
          TimeUnit.MILLISECONDS);
    } while (NewNames.nowMillis() - startMillis < maxWaitMillis);
    return Optional.empty();
  }

  /** Whether the nodes promise it from now on; a promise that came late may have ended. */
  private boolean isGranted() {
    long nowMillis = NewNames.nowMillis();
    if (!names.isPromised(work, holder) || NewNames.nowMillis() - nowMillis >= CERTAIN_MILLIS) {
      return false;
    }
    askedMillis = nowMillis;
    return true;
  }

  /**
   * Makes sure that nobody else does it, or has done it meanwhile, until half of a minute from now.
   *
   * @throws IOException if that is not sure
   */
  public void renew() throws IOException {
    long elapsedMillis = NewNames.nowMillis() - askedMillis;
    boolean isOver = elapsedMillis >= ReservedNames.MAX_MILLIS;
    if (isOver || (elapsedMillis >= RENEW_MILLIS && !isGranted() && !isCertain())) {
      throw new IOException(
          "Too few nodes promise that no other node does the same; another one may do it now.");
    }
  }

  private boolean isCertain() {
    return NewNames.nowMillis() - askedMillis < CERTAIN_MILLIS;
  }

  /** Lets others do it. */
  @Override
  public void close() {
    names.release(work, holder);
  }
}
