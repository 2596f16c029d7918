// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import io.isolde.oracle.Decision;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Where in the log the writes of the latest commits are, also of those that are applied: nodes that
 * died come back for them.
 *
 * <p>Belongs to one member and is not saved. A member that starts applies its log again, from its
 * saved state on. So it finds all that is in what is left of the log. Not thread-safe.
 */
public final class RecentCommits {
  /** 16 bytes each. */
  public static final int MOST = 1 << 20;

  private static final int POSITION_BITS = 16;
  private static final int INITIAL_CAPACITY = 64;

  /**
   * The place of a commit's writes, or of a part of them.
   *
   * @param index of its entry in the log
   * @param position of its command in the entry
   */
  public record Place(long commitTimestamp, long index, int position) {}

  /** Of transactions that may commit later. */
  private static final int MAX_STAGED = 1024;

  private final int most;

  /** The places of the parts that were staged, and not committed yet; the last of them. */
  private final Map<StagedWrites.Owner, List<Long>> staged =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<StagedWrites.Owner, List<Long>> eldest) {
          return size() > MAX_STAGED;
        }
      };

  /**
   * Rings: the commits are in those from {@code first} on, in ascending order; one in parts several
   * times.
   */
  private long[] timestamps = new long[INITIAL_CAPACITY];

  private long[] places = new long[INITIAL_CAPACITY];
  private int first;
  private int size;

  /** No commit that was decided from the start on is at or below it and not in here. */
  private long coversFrom;

  /** The largest of all that were ever decided, as far as is known. */
  private long newest;

  /**
   * @param last what the replica has issued before the first entry that this is told of
   */
  public RecentCommits(long last) {
    this(last, MOST);
  }

  RecentCommits(long last, int most) {
    this.most = most;
    this.coversFrom = last;
    this.newest = last;
  }

  /** An entry was applied, the next one of the log. */
  public void applied(long index, LogEntry entry, List<Answer> answers) {
    for (int position = 0; position < answers.size(); position++) {
      assert position < 1 << POSITION_BITS : "an entry has fewer commands";
      long place = index << POSITION_BITS | position;
      Command command = entry.commands().get(position);
      if (answers.get(position) instanceof Answer.Decided decided
          && decided.decision() instanceof Decision.Committed committed
          && command instanceof Command.Commit commit) {
        add(committed.commitTimestamp(), commit, place);
      } else if (command instanceof Command.Stage stage
          && answers.get(position) instanceof Answer.Done) {
        add(stage, place);
      }
    }
  }

  /** A part that comes again is where it came first. */
  private void add(Command.Stage stage, long place) {
    List<Long> parts =
        staged.computeIfAbsent(
            new StagedWrites.Owner(stage.session(), stage.staging()), owner -> new ArrayList<>());
    if (stage.number() == parts.size()) {
      parts.add(place);
    }
  }

  /** What is decided again is where it was decided first. */
  private void add(long commitTimestamp, Command.Commit commit, long place) {
    if (commitTimestamp <= newest) {
      return;
    }
    newest = commitTimestamp;
    if (commit.staged() != null) {
      addParts(commitTimestamp, commit);
    } else if (commit.writeSet().length > 0) {
      add(commitTimestamp, place);
    }
  }

  private void addParts(long commitTimestamp, Command.Commit commit) {
    List<Long> parts =
        staged.remove(new StagedWrites.Owner(commit.session(), commit.staged().id()));
    if (parts == null || parts.size() != commit.staged().parts()) {
      coversFrom = commitTimestamp; // The others came before the first entry that is known here.
    } else {
      parts.forEach(part -> add(commitTimestamp, part));
    }
  }

  private void add(long commitTimestamp, long place) {
    makeRoom();
    int at = slot(size++);
    timestamps[at] = commitTimestamp;
    places[at] = place;
  }

  private void makeRoom() {
    if (size < timestamps.length) {
      return;
    }
    if (size == most) {
      coversFrom = Math.max(coversFrom, timestamps[first]);
      long oldest = timestamps[first];
      while (size > 0 && timestamps[first] == oldest) { // with all of its parts
        first = slot(1);
        size--;
      }
      return;
    }
    int capacity = Math.min(most, 2 * size);
    timestamps = unrolled(timestamps, capacity);
    places = unrolled(places, capacity);
    first = 0;
  }

  private long[] unrolled(long[] ring, int capacity) {
    long[] copy = Arrays.copyOf(Arrays.copyOfRange(ring, first, ring.length), capacity);
    System.arraycopy(ring, 0, copy, ring.length - first, first);
    return copy;
  }

  private int slot(int i) {
    return (first + i) % timestamps.length;
  }

  /** Every commit above this that had writes is in here, whatever became of it since. */
  public long coversFrom() {
    return coversFrom;
  }

  /** Empty if it is not in here, or had no writes; several if they came in parts. */
  public List<Place> find(long commitTimestamp) {
    return between(commitTimestamp - 1, commitTimestamp, Integer.MAX_VALUE);
  }

  /**
   * Where the commits above one timestamp and up to another are, the oldest first, and not all of
   * them. The parts of a commit follow one another.
   */
  public List<Place> between(long above, long upTo, int mostPlaces) {
    List<Place> found = new ArrayList<>();
    for (int i = firstAbove(above); i < size && found.size() < mostPlaces; i++) {
      Place place = place(i);
      if (place.commitTimestamp > upTo) {
        break;
      }
      found.add(place);
    }
    return found;
  }

  private int firstAbove(long timestamp) {
    int low = 0;
    int high = size;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (timestamps[slot(middle)] <= timestamp) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private Place place(int i) {
    long packed = places[slot(i)];
    return new Place(
        timestamps[slot(i)], packed >>> POSITION_BITS, (int) (packed & ((1 << POSITION_BITS) - 1)));
  }
}
