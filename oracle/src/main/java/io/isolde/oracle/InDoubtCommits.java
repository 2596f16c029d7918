// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The commits that {@link StatusOracle#stable()} has passed although they are not applied: with
 * them, and with them alone, a snapshot is in doubt. Who holds a start timestamp keeps away from
 * the ids of those at or below it until they are applied.
 *
 * <p>Large commits are among them from the beginning. They have room of their own, so that they
 * don't keep out those that are stuck.
 *
 * <p>Immutable. Bounded by {@link #MAX_COMMITS} and {@link #MAX_IDS}.
 */
public final class InDoubtCommits {
  /**
   * How many commits. More than a coordinator that dies leaves behind as a rule; when so many are
   * stuck, everything is, and nobody gains by seeing newer snapshots.
   */
  public static final int MAX_COMMITS = 1024;

  /** How many ids all of them may have together: half a MiB to tell a coordinator. */
  public static final int MAX_IDS = 1 << 16;

  /** How many large commits there may be besides. */
  public static final int MAX_LARGE_COMMITS = 64;

  /** How many ids these may have together: one MiB. */
  public static final int MAX_LARGE_IDS = 1 << 17;

  /** That of an oracle that has never set a commit aside. */
  public static final InDoubtCommits NONE = new InDoubtCommits(0, new TreeMap<>(), 0, 0);

  /**
   * What is in doubt.
   *
   * @param commitTimestamp of the commit that is not applied
   * @param id that it writes
   */
  public record Doubt(long commitTimestamp, long id) {}

  private final long epoch;

  /** The ids that each commit writes, by its timestamp. */
  private final SortedMap<Long, long[]> commits;

  private final int ids;

  /** Of these, large ones. */
  private final int largeCommits;

  private final int largeIds;

  /** By id the oldest commit that writes it. Made when it is first asked for. */
  private volatile Map<Long, Long> oldest;

  private InDoubtCommits(
      long epoch, SortedMap<Long, long[]> commits, int largeCommits, int largeIds) {
    this.epoch = epoch;
    this.commits = commits;
    this.largeCommits = largeCommits;
    this.largeIds = largeIds;
    this.ids = commits.values().stream().mapToInt(some -> some.length).sum();
  }

  /**
   * A set that the oracle has sent. Only the oracle knows which of them are large.
   *
   * @param commits the ids that each commit writes, by its timestamp
   */
  public static InDoubtCommits of(long epoch, SortedMap<Long, long[]> commits) {
    return new InDoubtCommits(epoch, new TreeMap<>(commits), 0, 0);
  }

  /**
   * Grows with every commit that comes in and every one that goes. Of two sets the one with the
   * larger epoch is the later one.
   */
  public long epoch() {
    return epoch;
  }

  public boolean isEmpty() {
    return commits.isEmpty();
  }

  /** How many commits. */
  public int size() {
    return commits.size();
  }

  /** The ids that each commit writes, by its timestamp. */
  public SortedMap<Long, long[]> commits() {
    return Collections.unmodifiableSortedMap(commits);
  }

  public boolean contains(long commitTimestamp) {
    return commits.containsKey(commitTimestamp);
  }

  /** Whether a commit with so many ids may come in, too. */
  boolean hasRoomFor(int moreIds) {
    return hasRoomFor(1, moreIds);
  }

  /** Whether so many commits with so many ids together may come in, too. */
  boolean hasRoomFor(int moreCommits, int moreIds) {
    return commits.size() - largeCommits + moreCommits <= MAX_COMMITS
        && ids - largeIds + moreIds <= MAX_IDS;
  }

  /** Whether a large commit with so many ids may come in, too. */
  boolean hasRoomForLarge(int moreIds) {
    return largeCommits < MAX_LARGE_COMMITS && largeIds + moreIds <= MAX_LARGE_IDS;
  }

  /** Whether nothing is stuck: each of them was in doubt as soon as it was decided. */
  public boolean isOnlyLarge() {
    return commits.size() == largeCommits;
  }

  /**
   * The oldest commit at or below a timestamp that writes one of these ids. Costs a look-up for
   * each of them, and nothing while the set is empty.
   */
  public Optional<Doubt> find(long[] some, long upTo) {
    if (commits.isEmpty() || commits.firstKey() > upTo) {
      return Optional.empty();
    }
    Map<Long, Long> made = oldest;
    Map<Long, Long> lookUp = made == null ? oldest() : made;
    Doubt found = null;
    for (long id : some) {
      Long commit = lookUp.get(id);
      if (commit != null && commit <= upTo && (found == null || commit < found.commitTimestamp)) {
        found = new Doubt(commit, id);
      }
    }
    return Optional.ofNullable(found);
  }

  /** Made by one thread while the others wait: it may be large. */
  private synchronized Map<Long, Long> oldest() {
    Map<Long, Long> known = oldest;
    if (known == null) {
      known = new HashMap<>(2 * ids);
      for (Map.Entry<Long, long[]> commit : commits.entrySet()) {
        for (long id : commit.getValue()) {
          known.putIfAbsent(id, commit.getKey());
        }
      }
      oldest = known;
    }
    return known;
  }

  InDoubtCommits with(long commitTimestamp, long[] itsIds, boolean isLarge) {
    assert isLarge ? hasRoomForLarge(itsIds.length) : hasRoomFor(itsIds.length);
    assert !contains(commitTimestamp);
    SortedMap<Long, long[]> more = new TreeMap<>(commits);
    more.put(commitTimestamp, itsIds);
    return changed(more, isLarge ? 1 : 0, itsIds.length);
  }

  InDoubtCommits without(long commitTimestamp, boolean isLarge) {
    assert contains(commitTimestamp);
    SortedMap<Long, long[]> fewer = new TreeMap<>(commits);
    int itsIds = fewer.remove(commitTimestamp).length;
    return changed(fewer, isLarge ? -1 : 0, -itsIds);
  }

  private InDoubtCommits changed(SortedMap<Long, long[]> now, int moreLarge, int moreIds) {
    return new InDoubtCommits(
        epoch + 1, now, largeCommits + moreLarge, moreLarge == 0 ? largeIds : largeIds + moreIds);
  }

  /** Which commits; their ids are known to who reads it. */
  void writeTo(DataOutput out) throws IOException {
    out.writeLong(epoch);
    out.writeInt(commits.size());
    for (long commitTimestamp : commits.keySet()) {
      out.writeLong(commitTimestamp);
    }
  }

  /**
   * @param idsOf of the pending commits, by their timestamps
   * @param large those of them that are large
   */
  static InDoubtCommits readFrom(DataInput in, Map<Long, long[]> idsOf, Set<Long> large)
      throws IOException {
    long epoch = in.readLong();
    int size = in.readInt();
    SortedMap<Long, long[]> commits = new TreeMap<>();
    int largeCommits = 0;
    int largeIds = 0;
    for (int i = 0; i < size; i++) {
      long commitTimestamp = in.readLong();
      long[] ids = idsOf.get(commitTimestamp);
      if (ids == null) {
        throw new IOException("A commit is in doubt that is not pending: " + commitTimestamp);
      }
      commits.put(commitTimestamp, ids);
      largeCommits += large.contains(commitTimestamp) ? 1 : 0;
      largeIds += large.contains(commitTimestamp) ? ids.length : 0;
    }
    return new InDoubtCommits(epoch, commits, largeCommits, largeIds);
  }
}
