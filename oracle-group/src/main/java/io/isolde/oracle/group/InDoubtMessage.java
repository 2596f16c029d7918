// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.InDoubtCommits;
import io.netty.buffer.ByteBuf;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** The commits in doubt, on the wire: a byte, 1 if they follow, and then all of them. */
final class InDoubtMessage {
  private InDoubtMessage() {}

  /**
   * Writes them.
   *
   * @param have the epoch that who asks has already
   */
  static ByteBuf write(InDoubtCommits set, long have, ByteBuf out) {
    boolean isNewer = set.epoch() > have;
    out.writeBoolean(isNewer);
    if (isNewer) {
      out.writeLong(set.epoch()).writeInt(set.size());
      for (Map.Entry<Long, long[]> commit : set.commits().entrySet()) {
        out.writeLong(commit.getKey()).writeInt(commit.getValue().length);
        for (long id : commit.getValue()) {
          out.writeLong(id);
        }
      }
    }
    return out;
  }

  /** Returns empty if they are what who asked had already. */
  static Optional<InDoubtCommits> read(ByteBuf in) {
    if (!in.readBoolean()) {
      return Optional.empty();
    }
    long epoch = in.readLong();
    int size = bounded(in.readInt(), InDoubtCommits.MAX_COMMITS + InDoubtCommits.MAX_LARGE_COMMITS);
    SortedMap<Long, long[]> commits = new TreeMap<>();
    for (int i = 0; i < size; i++) {
      long commitTimestamp = in.readLong();
      long[] ids = new long[bounded(in.readInt(), InDoubtCommits.MAX_LARGE_IDS)];
      for (int j = 0; j < ids.length; j++) {
        ids[j] = in.readLong();
      }
      commits.put(commitTimestamp, ids);
    }
    return Optional.of(InDoubtCommits.of(epoch, commits));
  }

  private static int bounded(int count, int most) {
    if (count < 0 || count > most) {
      throw new IllegalArgumentException(
          "A message tells of " + count + " of at most " + most + " that are set aside.");
    }
    return count;
  }
}
