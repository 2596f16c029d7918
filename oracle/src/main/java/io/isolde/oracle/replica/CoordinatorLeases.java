// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Which coordinators the leader has heard of lately, and how old their oldest transactions are. It
 * is not replicated: a new leader gives everybody a full lease.
 *
 * <p>Times are milliseconds of a clock that only goes forward.
 */
public final class CoordinatorLeases {
  /** A coordinator that has not told yet may have the oldest transaction of all. */
  private static final long UNKNOWN = 0;

  private final long leaseMillis;
  private final Map<Long, Lease> leases = new TreeMap<>();

  private long lastLookMillis;

  private static final class Lease {
    private long renewedAtMillis;
    private long oldestStart = UNKNOWN;

    private Lease(long renewedAtMillis) {
      this.renewedAtMillis = renewedAtMillis;
    }
  }

  /**
   * @param leaseMillis how long a coordinator may be silent; see {@code coordinator_lease}
   */
  public CoordinatorLeases(long leaseMillis, Iterable<Long> openSessions, long nowMillis) {
    this.leaseMillis = leaseMillis;
    this.lastLookMillis = nowMillis;
    follow(openSessions, nowMillis);
  }

  /**
   * Sessions were opened or fenced: to be called after each applied entry that may have done so,
   * whoever made it.
   */
  public void follow(Iterable<Long> openSessions, long nowMillis) {
    Map<Long, Lease> before = new HashMap<>(leases);
    leases.clear();
    for (long session : openSessions) {
      Lease known = before.get(session);
      leases.put(session, known == null ? new Lease(nowMillis) : known);
    }
  }

  /**
   * A coordinator is alive.
   *
   * @param oldestStart the smallest start timestamp of its open transactions, or the largest that
   *     it was given if none is open. A start that is under way counts as an open transaction. Its
   *     start timestamp counts as the largest that the coordinator had been given when it sent the
   *     request: the answer may come after that of a later request, with a smaller timestamp.
   * @return false if the session is not open
   */
  public boolean renew(long session, long oldestStart, long nowMillis) {
    Lease lease = leases.get(session);
    if (lease == null) {
      return false;
    }
    lease.renewedAtMillis = nowMillis;
    lease.oldestStart = Math.max(lease.oldestStart, oldestStart);
    return true;
  }

  /**
   * The sessions whose lease is over. To be called at least twice per lease: a leader that itself
   * was away for longer can't tell who was silent, and gives everybody a new lease.
   */
  public List<Long> expired(long nowMillis) {
    boolean wasAway = nowMillis - lastLookMillis > leaseMillis / 2;
    lastLookMillis = nowMillis;
    List<Long> expired = new ArrayList<>(0);
    for (Map.Entry<Long, Lease> entry : leases.entrySet()) {
      Lease lease = entry.getValue();
      if (wasAway) {
        lease.renewedAtMillis = nowMillis;
      } else if (nowMillis - lease.renewedAtMillis > leaseMillis) {
        expired.add(entry.getKey());
      }
    }
    return expired;
  }

  /**
   * No open transaction reads below this, as far as all have told; {@code stable} if there is no
   * coordinator at all.
   */
  public long oldestStart(long stable) {
    long oldest = stable;
    for (Lease lease : leases.values()) {
      oldest = Math.min(oldest, lease.oldestStart);
    }
    return oldest;
  }

  /** Milliseconds since a session was heard of, or -1 if it is not open. */
  public long silentMillis(long session, long nowMillis) {
    Lease lease = leases.get(session);
    return lease == null ? -1 : nowMillis - lease.renewedAtMillis;
  }
}
