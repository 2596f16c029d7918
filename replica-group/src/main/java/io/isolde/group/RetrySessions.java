// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * Senders of writes, in the order in which they were last heard of, and what they may send again.
 */
final class RetrySessions {
  private static final class Session {
    private long lastMicros;

    /** Below it nothing is sent again; what comes late all the same was given up or is done. */
    private long oldestOpen;

    /** Timestamps by the number of the write. */
    private final NavigableMap<Long, Long> applied = new TreeMap<>();
  }

  private final Map<Long, Session> sessions = new LinkedHashMap<>();
  private int writes;

  /** Times only grow, so the first session is the one that was not heard of for longest. */
  private long newestMicros = Long.MIN_VALUE;

  boolean knows(long session) {
    return sessions.containsKey(session);
  }

  /** As {@link RetryWindow#appliedAt}; empty if the session is not known. */
  OptionalLong appliedAt(long session, long number) {
    Session known = sessions.get(session);
    if (known == null) {
      return OptionalLong.empty();
    }
    Long micros = known.applied.get(number);
    if (micros != null) {
      return OptionalLong.of(micros);
    }
    return number < known.oldestOpen
        ? OptionalLong.of(RetryWindow.FORGOTTEN)
        : OptionalLong.empty();
  }

  /**
   * A write is applied.
   *
   * @param micros not before those of any write that was applied before
   * @param maxOpen so many writes of its session are remembered, and no older ones
   */
  void applied(RequestId id, long micros, int maxOpen) {
    requireInOrder(micros);
    Session session = sessions.remove(id.session());
    if (session == null) {
      session = new Session();
    }
    sessions.put(id.session(), session); // as the last one
    writes -= session.applied.size();
    session.lastMicros = micros;
    session.applied.put(id.number(), micros);
    session.oldestOpen = Math.max(session.oldestOpen, id.oldestOpen());
    while (session.applied.size() > maxOpen) {
      session.oldestOpen =
          Math.max(session.oldestOpen, session.applied.pollFirstEntry().getKey() + 1);
    }
    session.applied.headMap(session.oldestOpen, false).clear();
    writes += session.applied.size();
  }

  private void requireInOrder(long micros) {
    assert micros >= newestMicros : micros + " comes after " + newestMicros;
    newestMicros = micros;
  }

  int size() {
    return sessions.size();
  }

  /** Of all sessions. */
  int writes() {
    return writes;
  }

  /** When the one that was not heard of for longest was. */
  long oldestMicros() {
    return sessions.values().iterator().next().lastMicros;
  }

  void removeOldest() {
    var oldest = sessions.values().iterator();
    writes -= oldest.next().applied.size();
    oldest.remove();
  }

  void writeTo(DataOutput out) throws IOException {
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

  static RetrySessions readFrom(DataInput in) throws IOException {
    return of(read(in));
  }

  /** Of builds that kept sessions in the order in which they were first heard of. */
  static RetrySessions readUnorderedFrom(DataInput in) throws IOException {
    List<Map.Entry<Long, Session>> read = read(in);
    read.sort(Comparator.comparingLong(entry -> entry.getValue().lastMicros));
    return of(read);
  }

  private static List<Map.Entry<Long, Session>> read(DataInput in) throws IOException {
    int count = in.readInt();
    List<Map.Entry<Long, Session>> read = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Session session = new Session();
      read.add(Map.entry(in.readLong(), session));
      session.lastMicros = in.readLong();
      session.oldestOpen = in.readLong();
      int writes = in.readInt();
      for (int j = 0; j < writes; j++) {
        session.applied.put(in.readLong(), in.readLong());
      }
    }
    return read;
  }

  private static RetrySessions of(List<Map.Entry<Long, Session>> read) {
    RetrySessions made = new RetrySessions();
    for (Map.Entry<Long, Session> entry : read) {
      made.requireInOrder(entry.getValue().lastMicros);
      made.sessions.put(entry.getKey(), entry.getValue());
      made.writes += entry.getValue().applied.size();
    }
    return made;
  }
}
