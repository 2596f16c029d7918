// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.lock;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Which transactions have locked which rows, and which wait for them: one queue for each row, in
 * the order of arrival. Rows are the 64-bit ids by which the oracle knows them; two rows of one id
 * only wait for one another.
 *
 * <p>Nothing here decides about a commit. Whoever loses a lock, or never asked for one, still gets
 * the decision of {@link io.isolde.oracle.StatusOracle}. So this state is kept in memory only, and
 * a new leader begins with none.
 *
 * <p>A transaction that is not heard of for a lease loses its locks and its places. Not
 * thread-safe; time comes with each call.
 */
public final class LockTable {
  /** Of one transaction. */
  public static final int MAX_ROWS_EACH = 1_024;

  /** A row and a place in its queue take some 200 bytes. */
  private static final int MAX_ROWS = 200_000;

  private static final int MAX_TRANSACTIONS = 20_000;

  /** Of rows that others have, beside those that were asked for. */
  public static final int MAX_MORE = 4_096;

  /** By so many rows of each transaction a circle of waits is searched. */
  private static final int MAX_SEARCHED = 64;

  private final long leaseMillis;
  private final Map<Long, LockedRow> rows = new HashMap<>();
  private final Map<UUID, Owner> owners = new HashMap<>();

  /** Places in all queues, and locks. */
  private int places;

  /** Whether a transaction waits. */
  public enum Mode {
    /** Until it has all rows. */
    WAIT,
    /** Not at all: it gets all rows, or none. */
    NOWAIT,
    /** Not at all: it gets those that nobody else has. */
    SKIP
  }

  /** What became of a question. */
  public enum Outcome {
    /**
     * The transaction has all rows; with {@link Mode#SKIP}, those that are not locked by others.
     */
    GRANTED,
    /** It has its places in the queues, and some of the rows. */
    WAITS,
    /** Another transaction has a row; nothing has changed. */
    LOCKED,
    /** Those that it would wait for wait for it; nothing has changed. */
    DEADLOCK,
    /** There are as many locks as may be; nothing has changed. */
    FULL
  }

  /**
   * The answer to a question.
   *
   * @param inTheWay a transaction that has one of the rows, or waits for it before this one
   * @param lockedByOthers with {@link Mode#SKIP}, if others have a row that was asked for: such
   *     rows, and more that others have, so that nobody asks for these
   */
  public record Answer(Outcome outcome, Optional<UUID> inTheWay, Set<Long> lockedByOthers) {
    private static Answer of(Outcome outcome) {
      return new Answer(outcome, Optional.empty(), Set.of());
    }

    private static Answer of(Outcome outcome, UUID inTheWay) {
      return new Answer(outcome, Optional.of(inTheWay), Set.of());
    }
  }

  /**
   * What a transaction has, for people.
   *
   * @param waitsFor the first one in its way; empty if it does not wait
   * @param sinceMillis when it came, or began to wait
   */
  public record Entry(UUID transaction, int locked, Optional<UUID> waitsFor, long sinceMillis) {}

  private static final class Owner {
    private final Set<Long> locked = new HashSet<>();
    private final SortedSet<Long> wanted = new TreeSet<>();
    private long heardMillis;
    private long askedMillis;
    private long sinceMillis;
  }

  /**
   * An empty table.
   *
   * @param leaseMillis for how long a transaction may be silent
   */
  public LockTable(long leaseMillis) {
    this.leaseMillis = leaseMillis;
  }

  /**
   * Asks for rows. Asking again for the same rows keeps the places in their queues, and renews the
   * lease. What a transaction waited for and does not ask for again, it wants no more; but {@link
   * Mode#SKIP} leaves its places alone.
   *
   * @param ids of the rows, {@link #MAX_ROWS_EACH} at most
   * @param nowMillis from any beginning; must not go back
   */
  public Answer ask(UUID transaction, Set<Long> ids, Mode mode, long nowMillis) {
    Owner known = owners.get(transaction);
    Set<Long> missing = new TreeSet<>(ids); // All in one order, so that fewer wait in circles.
    if (known != null) {
      known.heardMillis = nowMillis;
      missing.removeAll(known.locked);
      if (mode != Mode.SKIP) {
        List<Long> wantedNoMore = known.wanted.stream().filter(id -> !ids.contains(id)).toList();
        wantedNoMore.forEach(id -> leave(transaction, known, id));
      }
    }
    if (missing.isEmpty()) {
      return Answer.of(Outcome.GRANTED);
    }
    boolean hasPlaces = mode == Mode.WAIT && known != null && known.wanted.containsAll(missing);
    if (!hasPlaces && isFull(known, mode == Mode.SKIP ? free(missing) : missing.size())) {
      return Answer.of(Outcome.FULL);
    }
    Optional<UUID> inTheWay = inTheWay(transaction, missing);
    if (inTheWay.isPresent() && mode == Mode.NOWAIT) {
      return Answer.of(Outcome.LOCKED, inTheWay.get());
    }
    if (mode == Mode.WAIT
        && !hasPlaces
        && Circles.isIn(
            transaction,
            allBefore(transaction, missing),
            other -> allBefore(other, some(owners.get(other).wanted)))) {
      return Answer.of(Outcome.DEADLOCK, inTheWay.orElseThrow());
    }
    Owner owner = owners.computeIfAbsent(transaction, made -> new Owner());
    owner.heardMillis = nowMillis;
    owner.askedMillis = mode == Mode.SKIP ? owner.askedMillis : nowMillis;
    if (known == null) {
      owner.sinceMillis = nowMillis;
    }
    return mode == Mode.SKIP
        ? lockFree(transaction, owner, missing, inTheWay)
        : lockOrWait(transaction, owner, missing, nowMillis);
  }

  private int free(Set<Long> ids) {
    return (int) ids.stream().filter(id -> !rows.containsKey(id)).count();
  }

  private static Set<Long> some(Set<Long> ids) {
    return ids.size() <= MAX_SEARCHED
        ? ids
        : ids.stream().limit(MAX_SEARCHED).collect(Collectors.toSet());
  }

  private boolean isFull(Owner known, int more) {
    int locked = known == null ? 0 : known.locked.size();
    return (known == null && owners.size() >= MAX_TRANSACTIONS)
        || locked + more > MAX_ROWS_EACH
        || places + more > MAX_ROWS;
  }

  private Optional<UUID> inTheWay(UUID transaction, Set<Long> ids) {
    for (long id : ids) {
      LockedRow row = rows.get(id);
      if (row != null && !row.holder.equals(transaction)) {
        return Optional.of(row.before(transaction));
      }
    }
    return Optional.empty();
  }

  /** Those that must be through before a transaction gets some rows. */
  private Set<UUID> allBefore(UUID transaction, Set<Long> ids) {
    Set<UUID> before = new HashSet<>();
    for (long id : ids) {
      LockedRow row = rows.get(id);
      if (row == null) {
        continue;
      }
      if (!row.holder.equals(transaction)) {
        before.add(row.holder);
      }
      for (UUID waiting : row.queue) {
        if (waiting.equals(transaction)) {
          break;
        }
        before.add(waiting);
      }
    }
    return before;
  }

  private Answer lockFree(UUID transaction, Owner owner, Set<Long> ids, Optional<UUID> inTheWay) {
    Set<Long> ofOthers = new HashSet<>();
    for (long id : ids) {
      if (!rows.containsKey(id)) {
        lock(transaction, owner, id);
      } else {
        ofOthers.add(id);
      }
    }
    forgetIfIdle(transaction, owner);
    if (!ofOthers.isEmpty()) {
      addMore(transaction, ofOthers);
    }
    return new Answer(Outcome.GRANTED, inTheWay, ofOthers);
  }

  private void addMore(UUID transaction, Set<Long> ofOthers) {
    int most = ofOthers.size() + MAX_MORE;
    for (Map.Entry<Long, LockedRow> row : rows.entrySet()) {
      if (ofOthers.size() >= most) {
        return;
      }
      if (!row.getValue().holder.equals(transaction)) {
        ofOthers.add(row.getKey());
      }
    }
  }

  private Answer lockOrWait(UUID transaction, Owner owner, Set<Long> ids, long nowMillis) {
    if (owner.wanted.isEmpty()) {
      owner.sinceMillis = nowMillis;
    }
    for (long id : ids) {
      LockedRow row = rows.get(id);
      if (row == null) {
        lock(transaction, owner, id);
      } else if (row.queue.add(transaction)) {
        owner.wanted.add(id);
        places++;
      }
    }
    return owner.wanted.isEmpty()
        ? Answer.of(Outcome.GRANTED)
        : Answer.of(Outcome.WAITS, rows.get(owner.wanted.first()).before(transaction));
  }

  private void lock(UUID transaction, Owner owner, long id) {
    rows.put(id, new LockedRow(transaction));
    owner.locked.add(id);
    places++;
  }

  /** Leaves the queue of a row. */
  private void leave(UUID transaction, Owner owner, long id) {
    rows.get(id).queue.remove(transaction);
    owner.wanted.remove(id);
    places--;
  }

  private void forgetIfIdle(UUID transaction, Owner owner) {
    if (owner.locked.isEmpty() && owner.wanted.isEmpty()) {
      owners.remove(transaction);
    }
  }

  /**
   * Gives up some rows that were asked for, locked or not.
   *
   * @return the transactions that have all their rows now
   */
  public List<UUID> giveUp(UUID transaction, Set<Long> ids) {
    Owner owner = owners.get(transaction);
    List<UUID> granted = new ArrayList<>();
    if (owner != null) {
      for (long id : new TreeSet<>(ids)) {
        if (owner.locked.remove(id)) {
          pass(id, granted);
        } else if (owner.wanted.contains(id)) {
          leave(transaction, owner, id);
        }
      }
      forgetIfIdle(transaction, owner);
    }
    return granted;
  }

  /** A row has no holder any more: the next one in its queue gets it. */
  private void pass(long id, List<UUID> granted) {
    LockedRow row = rows.get(id);
    places--;
    if (row.queue.isEmpty()) {
      rows.remove(id);
      return;
    }
    UUID next = row.queue.iterator().next();
    row.queue.remove(next);
    row.holder = next;
    Owner owner = owners.get(next);
    owner.wanted.remove(id);
    owner.locked.add(id);
    if (owner.wanted.isEmpty()) {
      granted.add(next);
    }
  }

  /**
   * A transaction has ended.
   *
   * @return the transactions that have all their rows now
   */
  public List<UUID> release(UUID transaction) {
    Owner owner = owners.get(transaction);
    if (owner == null) {
      return List.of();
    }
    Set<Long> all = new HashSet<>(owner.locked);
    all.addAll(owner.wanted);
    return giveUp(transaction, all);
  }

  /** This node has slept for so long, and could not hear of anybody. */
  public void forgive(long sleptMillis) {
    for (Owner owner : owners.values()) {
      owner.heardMillis += sleptMillis;
      owner.askedMillis += sleptMillis;
    }
  }

  /**
   * Releases those that were not heard of for a lease, and the places of those that do not ask for
   * them any more.
   *
   * @return the transactions that have all their rows now
   */
  public List<UUID> expire(long nowMillis) {
    List<UUID> silent =
        owners.entrySet().stream()
            .filter(entry -> nowMillis - entry.getValue().heardMillis > leaseMillis)
            .map(Map.Entry::getKey)
            .toList();
    List<UUID> granted = new ArrayList<>();
    silent.forEach(transaction -> granted.addAll(release(transaction)));
    granted.removeAll(silent);
    owners.forEach(
        (transaction, owner) -> {
          if (nowMillis - owner.askedMillis > leaseMillis) {
            List.copyOf(owner.wanted).forEach(id -> leave(transaction, owner, id));
          }
        });
    return granted;
  }

  /** All transactions that have locks, or wait. */
  public List<Entry> entries() {
    List<Entry> entries = new ArrayList<>();
    owners.forEach(
        (transaction, owner) ->
            entries.add(
                new Entry(
                    transaction,
                    owner.locked.size(),
                    owner.wanted.isEmpty()
                        ? Optional.empty()
                        : Optional.of(rows.get(owner.wanted.first()).before(transaction)),
                    owner.sinceMillis)));
    return entries;
  }

  /** Each row has a holder who knows it, and each place in a queue is known to who waits. */
  boolean isSound() {
    int counted = 0;
    for (Map.Entry<Long, LockedRow> entry : rows.entrySet()) {
      LockedRow row = entry.getValue();
      Owner holder = owners.get(row.holder);
      assert holder != null && holder.locked.contains(entry.getKey()) : "a holder knows its rows";
      assert !row.queue.contains(row.holder) : "nobody waits for what it has";
      for (UUID waiting : row.queue) {
        assert owners.get(waiting).wanted.contains(entry.getKey()) : "a place belongs to somebody";
      }
      counted += 1 + row.queue.size();
    }
    assert counted == places : counted + " places, not " + places;
    return true;
  }
}
