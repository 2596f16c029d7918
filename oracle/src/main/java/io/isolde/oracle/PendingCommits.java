// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * The commits that are decided but not yet applied. They are applied in any order. One that takes
 * too long can be in doubt: then it no longer holds back what comes after it.
 */
final class PendingCommits {
  /** Of all together, 32 MiB. A commit beyond has its ids forgotten, and is never in doubt. */
  static final int MAX_IDS = 1 << 22;

  private static final int INITIAL_CAPACITY = 16;
  private static final long[] NOT_KEPT = {};

  /**
   * One of them.
   *
   * @param ids that it writes; none if they are not kept
   * @param isLarge whether it was in doubt from the beginning
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Pending(PendingCommit commit, long[] ids, boolean isLarge) {
    long commitTimestamp() {
      return commit.commitTimestamp();
    }
  }

  /** Holds the commits from {@code first} to before {@code end}, in ascending order. */
  private Pending[] commits = new Pending[INITIAL_CAPACITY];

  private int first;
  private int end;

  /** At most {@link #MAX_IDS}. */
  private int keptIds;

  /** A subset of {@code commits}. */
  private InDoubtCommits inDoubt = InDoubtCommits.NONE;

  /** The index of the smallest that is not in doubt, or of one before. */
  private int holdingFrom;

  /** What is pending may exceed it only after it became smaller. */
  private int maxPending;

  PendingCommits(int maxPending) {
    this.maxPending = maxPending;
  }

  /**
   * Adds the newest of all.
   *
   * @param ids that it writes
   */
  void add(PendingCommit commit, long[] ids) {
    assert !isFull() : "a commit is refused before it exceeds the bound";
    append(commit, ids, false);
  }

  /** Adds the newest of all, which is in doubt at once. There must be {@link #hasRoomForLarge}. */
  void addLarge(PendingCommit commit, long[] ids) {
    assert !isFull() && hasRoomForLarge(ids) : "a commit is refused before it exceeds the bound";
    append(commit, ids, true);
    inDoubt = inDoubt.with(commit.commitTimestamp(), ids, true);
  }

  boolean hasRoomForLarge(long[] ids) {
    return inDoubt.hasRoomForLarge(ids.length);
  }

  private void append(PendingCommit commit, long[] ids, boolean isLarge) {
    assert isEmpty() || commit.commitTimestamp() > commits[end - 1].commitTimestamp()
        : "commits are decided in order";
    if (end == commits.length) {
      makeRoom();
    }
    boolean isKept =
        isLarge || (ids.length <= InDoubtCommits.MAX_IDS && keptIds + ids.length <= MAX_IDS);
    commits[end++] = new Pending(commit, isKept ? ids : NOT_KEPT, isLarge);
    keptIds += isKept ? ids.length : 0;
  }

  /** Does nothing if no such commit is pending, or if it can't be in doubt. */
  void inDoubt(long commitTimestamp) {
    int index = indexOf(commitTimestamp);
    if (isAt(index, commitTimestamp) && !inDoubt.contains(commitTimestamp)) {
      long[] ids = commits[index].ids;
      if (ids.length > 0 && inDoubt.hasRoomFor(ids.length)) {
        inDoubt = inDoubt.with(commitTimestamp, ids, false);
      }
    }
  }

  /**
   * Those at or below a timestamp that would have to be declared in doubt, the oldest first, as far
   * as there is room for them. Behind one that can't be, it would bring nothing to set others
   * aside.
   */
  List<Long> overdue(long upTo) {
    List<Long> some = new ArrayList<>(0);
    int moreIds = 0;
    for (int i = first; i < end && commits[i].commitTimestamp() <= upTo; i++) {
      long commitTimestamp = commits[i].commitTimestamp();
      if (!inDoubt.contains(commitTimestamp)) {
        moreIds += commits[i].ids.length;
        if (commits[i].ids.length == 0 || !inDoubt.hasRoomFor(some.size() + 1, moreIds)) {
          return some;
        }
        some.add(commitTimestamp);
      }
    }
    return some;
  }

  InDoubtCommits inDoubt() {
    return inDoubt;
  }

  void remove(long commitTimestamp) {
    int index = indexOf(commitTimestamp);
    if (!isAt(index, commitTimestamp)) {
      throw new IllegalArgumentException(
          "No commit with timestamp " + commitTimestamp + " waits for being applied.");
    }
    keptIds -= commits[index].ids.length;
    if (inDoubt.contains(commitTimestamp)) {
      inDoubt = inDoubt.without(commitTimestamp, commits[index].isLarge);
    }
    int before = index - first;
    int after = end - 1 - index;
    if (before < after) {
      System.arraycopy(commits, first, commits, first + 1, before);
      commits[first++] = null;
    } else {
      System.arraycopy(commits, index + 1, commits, index, after);
      commits[--end] = null;
      holdingFrom -= index < holdingFrom ? 1 : 0;
    }
    if (isEmpty()) {
      first = 0;
      end = 0;
      holdingFrom = 0;
    }
  }

  /** The timestamps of those above one, in ascending order. */
  List<Long> after(long timestamp) {
    return Arrays.stream(commits, indexOf(timestamp + 1), end)
        .map(Pending::commitTimestamp)
        .toList();
  }

  boolean contains(long commitTimestamp) {
    return isAt(indexOf(commitTimestamp), commitTimestamp);
  }

  /** The pending commit of a transaction, or null. Looks at them all. */
  PendingCommit of(UUID transactionId) {
    return Arrays.stream(commits, first, end)
        .map(Pending::commit)
        .filter(commit -> transactionId.equals(commit.transactionId()))
        .findFirst()
        .orElse(null);
  }

  /** All of them, in ascending order. */
  List<PendingCommit> all() {
    return Arrays.stream(commits, first, end).map(Pending::commit).toList();
  }

  boolean isFull() {
    return size() >= maxPending;
  }

  boolean isEmpty() {
    return first == end;
  }

  /** Whether there is one that is not in doubt. */
  boolean isHolding() {
    return size() > inDoubt.size();
  }

  /** The smallest that is not in doubt. */
  long smallestHolding() {
    holdingFrom = Math.max(holdingFrom, first);
    while (inDoubt.contains(commits[holdingFrom].commitTimestamp())) {
      holdingFrom++;
    }
    return commits[holdingFrom].commitTimestamp();
  }

  int size() {
    return end - first;
  }

  /** If more are pending, they stay until they are applied. */
  void setMaxPending(int commits) {
    maxPending = commits;
  }

  PendingCommits copy() {
    PendingCommits copy = new PendingCommits(maxPending);
    copy.commits = commits.clone();
    copy.first = first;
    copy.end = end;
    copy.keptIds = keptIds;
    copy.inDoubt = inDoubt;
    copy.holdingFrom = holdingFrom;
    return copy;
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeInt(size());
    for (int i = first; i < end; i++) {
      PendingCommit commit = commits[i].commit;
      TransactionIds.write(commit.transactionId(), out);
      out.writeLong(commit.commitTimestamp());
      out.writeLong(commit.session());
      int count = commits[i].ids.length;
      out.writeInt(commits[i].isLarge ? ~count : count); // Older builds refuse what is negative.
      LongArrays.write(commits[i].ids, out);
    }
    inDoubt.writeTo(out);
  }

  static PendingCommits readFrom(int maxPending, DataInput in) throws IOException {
    PendingCommits pending = new PendingCommits(maxPending);
    Map<Long, long[]> idsOf = new HashMap<>();
    Set<Long> large = new HashSet<>();
    int size = in.readInt();
    for (int i = 0; i < size; i++) {
      UUID transactionId = TransactionIds.read(in);
      long commitTimestamp = in.readLong();
      PendingCommit commit = new PendingCommit(transactionId, commitTimestamp, in.readLong());
      int count = in.readInt();
      boolean isLarge = count < 0;
      long[] ids =
          isLarge
              ? readIds(in, ~count, InDoubtCommits.MAX_LARGE_IDS)
              : readIds(in, count, InDoubtCommits.MAX_IDS);
      if (isLarge) {
        large.add(commitTimestamp);
      }
      pending.append(commit, ids, isLarge);
      idsOf.put(commitTimestamp, ids);
    }
    pending.inDoubt = InDoubtCommits.readFrom(in, idsOf, large);
    return pending;
  }

  private static long[] readIds(DataInput in, int count, int most) throws IOException {
    if (count > most) {
      throw new IOException("A pending commit is said to write " + count + " ids.");
    }
    if (count == 0) {
      return NOT_KEPT;
    }
    long[] ids = new long[count];
    LongArrays.read(ids, in);
    return ids;
  }

  /** The index of the first commit at or above a timestamp. */
  private int indexOf(long commitTimestamp) {
    int low = first;
    int high = end;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (commits[middle].commitTimestamp() < commitTimestamp) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private boolean isAt(int index, long commitTimestamp) {
    return index < end && commits[index].commitTimestamp() == commitTimestamp;
  }

  /** Moves all to the front, into a larger array unless half of this one is free. */
  private void makeRoom() {
    int size = size();
    boolean isHalfFree = size <= commits.length / 2;
    Pending[] target = isHalfFree ? commits : new Pending[2 * commits.length];
    System.arraycopy(commits, first, target, 0, size);
    Arrays.fill(target, size, target.length, null);
    commits = target;
    holdingFrom = Math.max(0, holdingFrom - first);
    first = 0;
    end = size;
  }
}
