// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.replica.Command;
import io.isolde.raft.GroupFailure.Reason;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Which large commits the leader lets in. Their writes stay in the memory of all members until they
 * are applied, which a slow replica puts off; so they leave a part of it to the small ones, and
 * take their room with their first part. Thread-safe; bounded by what may wait for the log.
 */
final class StagingRoom {
  private record Key(long session, UUID staging) {
    static Key of(Command.Stage stage) {
      return new Key(stage.session(), stage.staging());
    }
  }

  private final long maxBytes;

  /** Those that were let in and that the replica does not know yet. Guarded by this. */
  private final Map<Key, Integer> underWay = new HashMap<>();

  /**
   * @param maxPendingBytes of all that is decided and not applied, small or large
   */
  StagingRoom(long maxPendingBytes) {
    this.maxBytes = maxPendingBytes / 4 * 3;
  }

  /** What one transaction may write, and all together when another one comes. */
  long maxBytes() {
    return maxBytes;
  }

  /**
   * Lets a part in, or says why not.
   *
   * @param isKnown whether the replica has its first part
   * @param pendingBytes what the replica has that is not applied
   * @return REFUSED if there never will be room, OVERLOADED if there is none now
   */
  synchronized Optional<Reason> enter(Command.Stage part, boolean isKnown, long pendingBytes) {
    if (part.number() > 0 || isKnown || underWay.containsKey(Key.of(part))) {
      return Optional.empty();
    }
    if (part.totalBytes() > maxBytes) {
      return Optional.of(Reason.REFUSED);
    }
    long entered = underWay.values().stream().mapToLong(Integer::longValue).sum();
    if (pendingBytes + entered + part.totalBytes() > maxBytes) {
      return Optional.of(Reason.OVERLOADED);
    }
    underWay.put(Key.of(part), part.totalBytes());
    return Optional.empty();
  }

  /** The replica has applied the part, or never will. */
  synchronized void ended(Command.Stage part) {
    underWay.remove(Key.of(part));
  }
}
