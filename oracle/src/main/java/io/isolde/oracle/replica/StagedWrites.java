// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Writes of large commits that are not decided yet, in parts. The first part takes room for all.
 * Bounded in bytes by who adds; what is left alone goes after {@link #KEEP_MICROS}.
 */
final class StagedWrites {
  /** So long a coordinator may take from one part to the next, and to the commit. */
  static final long KEEP_MICROS = 60_000_000;

  /** Whose they are. In an order that is the same on all replicas. */
  record Owner(long session, UUID staging) implements Comparable<Owner> {
    @Override
    public int compareTo(Owner other) {
      int bySession = Long.compare(session, other.session);
      return bySession != 0 ? bySession : staging.compareTo(other.staging);
    }
  }

  /** The parts of one commit. */
  static final class Parts {
    private final List<byte[]> parts = new ArrayList<>();
    private final int totalBytes;
    private long bytes;
    private long newestMicros;

    private Parts(int totalBytes) {
      this.totalBytes = totalBytes;
    }

    int totalBytes() {
      return totalBytes;
    }

    List<byte[]> all() {
      return Collections.unmodifiableList(parts);
    }

    /** When the newest one came, by the clock of that leader. */
    long newestMicros() {
      return newestMicros;
    }
  }

  private final TreeMap<Owner, Parts> staged = new TreeMap<>();

  /** What all together take, also of parts that are still to come. */
  private long bytes;

  /**
   * Adds a part.
   *
   * @param roomBytes what is free
   */
  Answer add(Command.Stage part, long roomBytes, long nowMicros) {
    Owner owner = new Owner(part.session(), part.staging());
    if (contains(owner, part.number())) {
      return Answer.Done.INSTANCE;
    }
    if (part.number() == 0 && part.totalBytes() > roomBytes) {
      return new Answer.Rejected(Answer.Rejected.Reason.NO_ROOM_FOR_PARTS);
    }
    return add(owner, part.number(), part.totalBytes(), part.part(), nowMicros)
        ? Answer.Done.INSTANCE
        : new Answer.Rejected(Answer.Rejected.Reason.PARTS_MISSING);
  }

  /**
   * Adds the next part.
   *
   * @param totalBytes of all parts
   * @return false if one before it is missing, or they are more than was said
   */
  boolean add(Owner owner, int number, int totalBytes, byte[] part, long nowMicros) {
    Parts parts = number == 0 ? new Parts(totalBytes) : staged.get(owner);
    boolean isNext =
        parts != null
            && parts.parts.size() == number
            && parts.bytes + part.length <= parts.totalBytes;
    if (isNext) {
      if (number == 0) {
        staged.put(owner, parts);
        bytes += totalBytes;
      }
      parts.parts.add(part);
      parts.bytes += part.length;
      parts.newestMicros = nowMicros;
    }
    return isNext;
  }

  /** Whether a part is here. */
  boolean contains(Owner owner, int number) {
    Parts parts = staged.get(owner);
    return parts != null && number < parts.parts.size();
  }

  /** Whether all are here, and there are so many. */
  boolean has(Owner owner, int count) {
    Parts parts = staged.get(owner);
    return parts != null && parts.parts.size() == count && parts.bytes == parts.totalBytes;
  }

  /** All parts, which are not here any more. */
  List<byte[]> take(Owner owner) {
    Parts parts = staged.remove(owner);
    if (parts == null) {
      return List.of();
    }
    bytes -= parts.totalBytes;
    assert bytes >= 0 && staged.isEmpty() == (bytes == 0);
    return parts.parts;
  }

  /** Nobody will commit what belongs to a session that has ended. */
  void dropAll(long session) {
    takeAll(staged.keySet().stream().filter(owner -> owner.session == session).toList());
  }

  /** Drops what has been left alone. */
  void expire(long nowMicros) {
    if (!staged.isEmpty()) {
      takeAll(
          staged.entrySet().stream()
              .filter(entry -> entry.getValue().newestMicros + KEEP_MICROS < nowMicros)
              .map(Map.Entry::getKey)
              .toList());
    }
  }

  private void takeAll(List<Owner> owners) {
    owners.forEach(this::take);
  }

  long bytes() {
    return bytes;
  }

  SortedMap<Owner, Parts> all() {
    return Collections.unmodifiableSortedMap(staged);
  }
}
