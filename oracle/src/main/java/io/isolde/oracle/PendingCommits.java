// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

/** The commits that are decided but not yet applied. They are applied in any order. */
final class PendingCommits {
  private static final int INITIAL_CAPACITY = 16;

  /** Holds the commits from {@code first} to before {@code end}, in ascending order. */
  private PendingCommit[] commits = new PendingCommit[INITIAL_CAPACITY];

  private int first;
  private int end;

  /** What is pending may exceed it only after it became smaller. */
  private int maxPending;

  PendingCommits(int maxPending) {
    this.maxPending = maxPending;
  }

  void add(PendingCommit commit) {
    assert !isFull() : "a commit is refused before it exceeds the bound";
    append(commit);
  }

  private void append(PendingCommit commit) {
    assert isEmpty() || commit.commitTimestamp() > commits[end - 1].commitTimestamp()
        : "commits are decided in order";
    if (end == commits.length) {
      makeRoom();
    }
    commits[end++] = commit;
  }

  void remove(long commitTimestamp) {
    int index = indexOf(commitTimestamp);
    if (!isAt(index, commitTimestamp)) {
      throw new IllegalArgumentException(
          "No commit with timestamp " + commitTimestamp + " waits for being applied.");
    }
    int before = index - first;
    int after = end - 1 - index;
    if (before < after) {
      System.arraycopy(commits, first, commits, first + 1, before);
      commits[first++] = null;
    } else {
      System.arraycopy(commits, index + 1, commits, index, after);
      commits[--end] = null;
    }
    if (isEmpty()) {
      first = 0;
      end = 0;
    }
  }

  boolean contains(long commitTimestamp) {
    return isAt(indexOf(commitTimestamp), commitTimestamp);
  }

  /** The pending commit of a transaction, or null. Looks at them all. */
  PendingCommit of(UUID transactionId) {
    return Arrays.stream(commits, first, end)
        .filter(commit -> transactionId.equals(commit.transactionId()))
        .findFirst()
        .orElse(null);
  }

  /** All of them, in ascending order. */
  List<PendingCommit> all() {
    return List.of(Arrays.copyOfRange(commits, first, end));
  }

  /** Those of a session, in ascending order. Looks at them all. */
  List<PendingCommit> ofSession(long session) {
    return Arrays.stream(commits, first, end)
        .filter(commit -> commit.session() == session)
        .toList();
  }

  boolean isFull() {
    return size() >= maxPending;
  }

  boolean isEmpty() {
    return first == end;
  }

  long smallest() {
    return commits[first].commitTimestamp();
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
    return copy;
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeInt(size());
    for (int i = first; i < end; i++) {
      TransactionIds.write(commits[i].transactionId(), out);
      out.writeLong(commits[i].commitTimestamp());
      out.writeLong(commits[i].session());
    }
  }

  static PendingCommits readFrom(int maxPending, DataInput in) throws IOException {
    PendingCommits pending = new PendingCommits(maxPending);
    int size = in.readInt();
    for (int i = 0; i < size; i++) {
      UUID transactionId = TransactionIds.read(in);
      long commitTimestamp = in.readLong();
      pending.append(new PendingCommit(transactionId, commitTimestamp, in.readLong()));
    }
    return pending;
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
    PendingCommit[] target = isHalfFree ? commits : new PendingCommit[2 * commits.length];
    System.arraycopy(commits, first, target, 0, size);
    Arrays.fill(target, size, target.length, null);
    commits = target;
    first = 0;
    end = size;
  }
}
