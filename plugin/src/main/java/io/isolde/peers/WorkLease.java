// SPDX-License-Identifier: Apache-2.0
package io.isolde.peers;

import com.google.common.util.concurrent.Uninterruptibles;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * Something that one node of the cluster does at a time, as long as it asks again from time to
 * time. More than half of the nodes have promised that nobody else does it. For one thread.
 */
public final class WorkLease implements AutoCloseable {
  /** Promises last {@link ReservedNames#MAX_MILLIS}, from a moment after they were asked for. */
  private static final long CERTAIN_MILLIS = ReservedNames.MAX_MILLIS / 2;

  private static final long RENEW_MILLIS = ReservedNames.MAX_MILLIS / 6;
  private static final long PAUSE_MILLIS = 200;

  private final NewNames names;
  private final NewName work;
  private final UUID holder = UUID.randomUUID();
  private long askedMillis;

  private WorkLease(NewNames names, NewName work) {
    this.names = names;
    this.work = work;
  }

  /**
   * Waits until nobody else has it.
   *
   * @param work what a keyspace has one of at a time; no name of a table
   * @throws IsoldeException UNAVAILABLE if somebody else has it all the time, or too few nodes
   *     answer
   */
  static WorkLease take(NewNames names, NewName work, long maxWaitMillis) {
    WorkLease lease = new WorkLease(names, work);
    long startMillis = NewNames.nowMillis();
    while (!lease.isGranted()) {
      lease.close();
      if (NewNames.nowMillis() - startMillis >= maxWaitMillis) {
        throw lease.unavailable();
      }
      Uninterruptibles.sleepUninterruptibly(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    }
    return lease;
  }

  private boolean isGranted() {
    long nowMillis = NewNames.nowMillis();
    boolean isGranted = names.isPromised(work, holder);
    if (isGranted) {
      askedMillis = nowMillis;
    }
    return isGranted;
  }

  /**
   * Makes sure that nobody else does it for the next half of a minute.
   *
   * @throws IsoldeException UNAVAILABLE if that is not sure
   */
  public void renew() {
    if (NewNames.nowMillis() - askedMillis >= RENEW_MILLIS && !isGranted() && !isCertain()) {
      throw unavailable();
    }
  }

  private boolean isCertain() {
    return NewNames.nowMillis() - askedMillis < CERTAIN_MILLIS;
  }

  private IsoldeException unavailable() {
    return IsoldeException.of(
        ErrorCode.UNAVAILABLE,
        "%s: another node does this just now, or too few nodes answer; try again later."
            .formatted(work),
        "name",
        work.toString());
  }

  /** Lets others do it. */
  @Override
  public void close() {
    names.release(work, holder);
  }
}
