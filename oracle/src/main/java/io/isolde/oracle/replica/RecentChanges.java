// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import io.isolde.oracle.Decision;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;

/**
 * What the latest commits have changed, as ids, in the order of their timestamps. A change of the
 * configuration is one of them. A commit is kept from its decision on and {@linkplain #after
 * reported} once it is visible. So whoever reads after he was notified of a commit finds it.
 *
 * <p>Bounded in commits and in ids: the oldest go first, and {@link #coversFrom} says from where on
 * nothing is missing. Belongs to one member and is not saved. Not thread-safe.
 */
public final class RecentChanges {
  /** About 100 bytes each, with its ids. */
  public static final int MAX_COMMITS = 1 << 17;

  /** {@value #ID_BYTES} bytes each. */
  public static final int MAX_IDS = 1 << 20;

  /** Of a commit, without its ids: what it is made of, and its place. */
  private static final int CHANGE_BYTES = 48;

  private static final int ID_BYTES = Long.BYTES;

  /** Then its places need less room, too. */
  private static final int SHRINK_FACTOR = 4;

  /**
   * A commit and the ids that it has written, as the coordinator has sent them; or a change of the
   * configuration.
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Change(long commitTimestamp, long[] ids) {}

  /** Adds up what several of these keep. */
  public interface Account {
    /**
     * Some more are kept, or some less.
     *
     * @param bytes of heap, about
     */
    void kept(int changes, long bytes);
  }

  private final int maxCommits;
  private final int maxIds;
  private final Account account;

  /** In the order of their timestamps: all of these are before all that are decided. */
  private Deque<Change> published = new ArrayDeque<>();

  /** How many there were at most since these places were made. */
  private int mostPublished;

  /** Those that are not visible yet. */
  private final Deque<Change> decided = new ArrayDeque<>();

  private int ids;
  private long coversFrom;
  private long newest;
  private long visible;

  /**
   * Empty.
   *
   * @param last what the replica has issued before the first entry that this hears of; commits
   *     before may be decided and not visible yet
   */
  public RecentChanges(long last) {
    this(last, MAX_COMMITS, MAX_IDS, (changes, bytes) -> {});
  }

  /**
   * Empty, with other bounds.
   *
   * @param last as above
   * @param account hears of what is kept, whoever calls; must be quick
   */
  public RecentChanges(long last, int maxCommits, int maxIds, Account account) {
    this.account = account;
    this.maxCommits = maxCommits;
    this.maxIds = maxIds;
    this.coversFrom = last;
    this.newest = last;
  }

  /**
   * An entry was applied, the next one of the log.
   *
   * @param ofConfiguration what it has changed of the configuration
   * @return what it has changed; also what was known before
   */
  public List<Change> applied(LogEntry entry, List<Answer> answers, List<Change> ofConfiguration) {
    List<Change> changes = new ArrayList<>(ofConfiguration);
    for (int i = 0; i < answers.size(); i++) {
      if (answers.get(i) instanceof Answer.Decided answer
          && answer.decision() instanceof Decision.Committed committed
          && entry.commands().get(i) instanceof Command.Commit commit) {
        changes.add(new Change(committed.commitTimestamp(), commit.request().writes()));
      }
    }
    if (!ofConfiguration.isEmpty()) {
      changes.sort(Comparator.comparingLong(Change::commitTimestamp));
    }
    changes.forEach(this::add);
    return changes;
  }

  /** Something was decided, the next one of the log. What is decided again is there. */
  public void add(Change change) {
    if (change.commitTimestamp <= newest) {
      return;
    }
    newest = change.commitTimestamp;
    decided.addLast(change);
    ids += change.ids.length;
    account.kept(1, bytesOf(change));
    while (published.size() + decided.size() > maxCommits || ids > maxIds) {
      forget(published.isEmpty() ? decided.removeFirst() : published.removeFirst());
    }
  }

  private static long bytesOf(Change change) {
    return CHANGE_BYTES + (long) ID_BYTES * change.ids.length;
  }

  private void forget(Change oldest) {
    ids -= oldest.ids.length;
    coversFrom = Math.max(coversFrom, oldest.commitTimestamp);
    account.kept(-1, -bytesOf(oldest));
  }

  /** The oldest of those that are visible; empty if none is kept. */
  public OptionalLong oldest() {
    return published.isEmpty()
        ? OptionalLong.empty()
        : OptionalLong.of(published.getFirst().commitTimestamp);
  }

  /**
   * Keeps less of those that are visible, to make room elsewhere.
   *
   * @param most so many of the oldest ones go
   * @param upTo but none that is newer
   */
  public void forgetOldest(int most, long upTo) {
    int left = most;
    while (left > 0 && !published.isEmpty() && published.getFirst().commitTimestamp <= upTo) {
      forget(published.removeFirst());
      left--;
    }
    if (published.size() < mostPublished / SHRINK_FACTOR) {
      published = new ArrayDeque<>(published);
      mostPublished = published.size();
    }
  }

  /** This is used no more, and what it keeps counts no more. */
  public void discard() {
    account.kept(-published.size() - decided.size(), -bytes());
  }

  /** Of heap, about. */
  public long bytes() {
    return (long) CHANGE_BYTES * (published.size() + decided.size()) + (long) ID_BYTES * ids;
  }

  /**
   * All commits up to a timestamp are visible, and no other will come below it.
   *
   * @return those that were not visible before and are kept, the oldest first
   */
  public List<Change> visible(long upTo) {
    if (upTo <= visible) {
      return List.of();
    }
    visible = upTo;
    List<Change> found = new ArrayList<>();
    while (!decided.isEmpty() && decided.peekFirst().commitTimestamp <= upTo) {
      Change change = decided.removeFirst();
      published.addLast(change);
      found.add(change);
    }
    mostPublished = Math.max(mostPublished, published.size());
    return found;
  }

  /**
   * The visible commits above a timestamp, the oldest first.
   *
   * @param after at or above {@link #coversFrom}
   */
  public List<Change> after(long after) {
    List<Change> found = new ArrayList<>();
    Iterator<Change> backwards = published.descendingIterator();
    while (backwards.hasNext()) {
      Change change = backwards.next();
      if (change.commitTimestamp <= after) {
        break;
      }
      found.add(change);
    }
    Collections.reverse(found);
    return found;
  }

  /**
   * The commits above a timestamp, visible or not, the newest first.
   *
   * @param after at or above {@link #coversFrom}
   */
  public List<Change> newestAfter(long after) {
    List<Change> found = new ArrayList<>();
    for (Deque<Change> each : List.of(decided, published)) {
      Iterator<Change> backwards = each.descendingIterator();
      while (backwards.hasNext()) {
        Change change = backwards.next();
        if (change.commitTimestamp <= after) {
          return found;
        }
        found.add(change);
      }
    }
    return found;
  }

  /** The newest of those that are not visible yet, as many as are wanted; the newest first. */
  public List<Change> newestDecided(int most) {
    List<Change> found = new ArrayList<>();
    Iterator<Change> backwards = decided.descendingIterator();
    while (backwards.hasNext() && found.size() < most) {
      found.add(backwards.next());
    }
    return found;
  }

  /** Up to here all is visible; changes above are reported later. */
  public long position() {
    return visible;
  }

  /** Every commit above this is in here, or will be. */
  public long coversFrom() {
    return coversFrom;
  }

  /** Whether this can tell all that is visible and above a position that it can give. */
  public boolean isReady() {
    return visible >= coversFrom;
  }

  /** Those that have written at least one of some ids; their timestamps, as many as are wanted. */
  public static List<Long> matching(List<Change> changes, Set<Long> watched, int most) {
    List<Long> found = new ArrayList<>();
    for (Change change : changes) {
      if (found.size() == most) {
        break;
      }
      if (hasOne(change, watched)) {
        found.add(change.commitTimestamp);
      }
    }
    return found;
  }

  private static boolean hasOne(Change change, Set<Long> watched) {
    for (long id : change.ids) {
      if (watched.contains(id)) {
        return true;
      }
    }
    return false;
  }
}
