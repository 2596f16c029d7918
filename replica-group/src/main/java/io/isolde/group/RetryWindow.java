// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.GroupFailure;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * Which writes were applied that may be sent again. Depends on the log alone, so it is the same on
 * all replicas. It is after Lee et al., <em>Implementing linearizability at large scale and low
 * latency</em>, SOSP 2015: a client says up to where it has its answers.
 */
final class RetryWindow {
  /** A session of which the log has heard nothing for so long will send nothing again. */
  static final long SESSION_MICROS = 600_000_000L;

  /** So many stay however long ago they were heard of: a leader's clock may be far ahead. */
  static final int FEW_SESSIONS = 512;

  /** A session may not have more open than this. */
  static final int MAX_OPEN = 16_384;

  private static final class Session {
    private long lastMicros;

    /** Below it nothing is sent again; what comes late all the same was given up or is done. */
    private long oldestOpen;

    /** At most {@link #MAX_OPEN}: timestamps by the number of the write. */
    private final NavigableMap<Long, Long> applied = new TreeMap<>();
  }

  private final Map<Long, Session> sessions = new LinkedHashMap<>();
  private long sweptMicros;

  /** Instead of a time: the write may have been applied, and must not be any more. */
  static final long FORGOTTEN = 0;

  /** When the write was applied, if it was; {@link #FORGOTTEN} if nobody can tell any more. */
  OptionalLong appliedAt(long session, long number) {
    Session known = sessions.get(session);
    if (known == null) {
      return OptionalLong.empty();
    }
    Long micros = known.applied.get(number);
    if (micros != null) {
      return OptionalLong.of(micros);
    }
    return number < known.oldestOpen ? OptionalLong.of(FORGOTTEN) : OptionalLong.empty();
  }

  void applied(RequestId id, long micros) {
    Session session = sessions.computeIfAbsent(id.session(), key -> new Session());
    session.lastMicros = micros;
    session.applied.put(id.number(), micros);
    session.oldestOpen = Math.max(session.oldestOpen, id.oldestOpen());
    while (session.applied.size() > MAX_OPEN) {
      session.oldestOpen =
          Math.max(session.oldestOpen, session.applied.pollFirstEntry().getKey() + 1);
    }
    session.applied.headMap(session.oldestOpen, false).clear();
    if (sessions.size() > FEW_SESSIONS && micros - sweptMicros > SESSION_MICROS / 10) {
      sweptMicros = micros;
      sessions.values().removeIf(old -> micros - old.lastMicros > SESSION_MICROS);
    }
  }

  /** What becomes of such a write. */
  static GroupFailure forgotten() {
    return new GroupFailure(
        GroupFailure.Reason.UNKNOWN,
        "The write came so late that nobody can tell whether it was done before.");
  }

  int sessions() {
    return sessions.size();
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeLong(sweptMicros);
    out.writeInt(sessions.size());
    for (Map.Entry<Long, Session> entry : sessions.entrySet()) {
      out.writeLong(entry.getKey());
      out.writeLong(entry.getValue().lastMicros);
      out.writeLong(entry.getValue().oldestOpen);
      out.writeInt(entry.getValue().applied.size());
      for (Map.Entry<Long, Long> write : entry.getValue().applied.entrySet()) {
        out.writeLong(write.getKey());
        out.writeLong(write.getValue());
      }
    }
  }

  static RetryWindow readFrom(DataInput in) throws IOException {
    RetryWindow window = new RetryWindow();
    window.sweptMicros = in.readLong();
    int count = in.readInt();
    for (int i = 0; i < count; i++) {
      Session session = new Session();
      window.sessions.put(in.readLong(), session);
      session.lastMicros = in.readLong();
      session.oldestOpen = in.readLong();
      int writes = in.readInt();
      for (int j = 0; j < writes; j++) {
        session.applied.put(in.readLong(), in.readLong());
      }
    }
    return window;
  }
}
