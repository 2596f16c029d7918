// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Compares what each watcher heard with what was written. It knows nothing of sessions, positions
 * in messages, or protocols.
 *
 * <p>A commit without an answer may be there or not. If one watcher heard of it, it is, and all
 * have to be.
 */
final class DeliveryCheck {
  /**
   * What is wrong.
   *
   * @param delivered notifications in all, for comparison
   * @param lost commits that a watcher did not hear of, also if it heard of a loss
   * @param doubled notifications of what a watcher had heard, or of what was before its watch
   * @param reordered notifications that came after one of a later commit
   * @param invented notifications of what nobody wrote
   * @param announcedLosses how often watchers heard that there may be a loss
   */
  record Verdict(
      long delivered,
      long lost,
      long doubled,
      long reordered,
      long invented,
      long announcedLosses) {
    static final Verdict NOTHING = new Verdict(0, 0, 0, 0, 0, 0);

    Verdict and(Verdict other) {
      return new Verdict(
          delivered + other.delivered,
          lost + other.lost,
          doubled + other.doubled,
          reordered + other.reordered,
          invented + other.invented,
          announcedLosses + other.announcedLosses);
    }

    boolean isClean() {
      return lost + doubled + reordered + invented + announcedLosses == 0;
    }

    /** By name, with something before each. */
    Map<String, Double> metrics(String prefix) {
      Map<String, Double> numbers = new LinkedHashMap<>();
      numbers.put(prefix + "delivered", (double) delivered);
      numbers.put(prefix + "lost", (double) lost);
      numbers.put(prefix + "doubled", (double) doubled);
      numbers.put(prefix + "reordered", (double) reordered);
      numbers.put(prefix + "invented", (double) invented);
      numbers.put(prefix + "announced_losses", (double) announcedLosses);
      return numbers;
    }
  }

  private final long[] commits;

  private DeliveryCheck(long[] commits) {
    this.commits = commits;
  }

  /** Looks at all watchers of a writer. */
  static Verdict of(CommitLog.Written written, Collection<Inbox.Heard> watchers) {
    DeliveryCheck check = new DeliveryCheck(commits(written, watchers));
    return watchers.stream().map(check::of).reduce(Verdict.NOTHING, Verdict::and);
  }

  /** Of ids that the log has not, only as many can be commits as had no answer. */
  private static long[] commits(CommitLog.Written written, Collection<Inbox.Heard> watchers) {
    TreeSet<Long> known = new TreeSet<>(written.ids());
    TreeSet<Long> unknown = new TreeSet<>();
    for (Inbox.Heard heard : watchers) {
      for (long id : heard.ids()) {
        if (!known.contains(id)) {
          unknown.add(id);
        }
      }
    }
    List<Long> explained = unknown.stream().limit(written.doubtful()).toList();
    known.addAll(explained);
    return known.stream().mapToLong(Long::longValue).toArray();
  }

  private Verdict of(Inbox.Heard heard) {
    BitSet seen = new BitSet(commits.length);
    long doubled = 0;
    long reordered = 0;
    long invented = 0;
    for (long id : heard.ids()) {
      int place = Arrays.binarySearch(commits, id);
      if (place < 0) {
        invented++;
      } else if (id <= heard.start() || seen.get(place)) {
        doubled++;
      } else {
        reordered += seen.length() > place ? 1 : 0;
        seen.set(place);
      }
    }
    long expected = Arrays.stream(commits).filter(id -> id > heard.start()).count();
    return new Verdict(
        heard.ids().size(),
        expected - seen.cardinality(),
        doubled,
        reordered,
        invented,
        heard.announcedLosses());
  }
}
