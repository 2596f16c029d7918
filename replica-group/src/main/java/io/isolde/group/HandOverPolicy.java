// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Predicate;

/**
 * Whether a leader hands over before work that would slow its group down, and to whom (ACaZoo,
 * section 3.3: the leader steps down before a compaction). Pure: time and chance come from outside.
 */
public final class HandOverPolicy {
  private static final long MINUTE_MILLIS = 60_000;

  /** Behind the leader by more than this, a follower would have to catch up first. */
  static final long MAX_ENTRIES_BEHIND = 256;

  /** Whom to choose among those that can take over. */
  public enum Choice {
    /** The one with the least work of this kind before it. */
    LEAST_LOADED,
    /** Any. */
    RANDOM,
    /** The one after the last. */
    ROUND_ROBIN
  }

  /**
   * The rules.
   *
   * @param thresholdBytes work below it is done while leading
   * @param backOffMillis a group is not handed over again for so long
   * @param maxPerMinute hand-overs of this node, of all groups together
   * @param waitMillis so long at most does the work wait for that of others, see {@link
   *     CompactionPermit}
   * @param isDryRun whether to decide only, and stay
   */
  public record Rules(
      Choice choice,
      long thresholdBytes,
      long backOffMillis,
      int maxPerMinute,
      long waitMillis,
      boolean isDryRun) {}

  /** What was decided, and why. */
  public enum Reason {
    /** Handed over. */
    HAND_OVER,
    /** It would have been, were it not a dry run. */
    DRY_RUN,
    /** Not worth it. */
    SMALL,
    /** The group was handed over a moment ago. */
    BACK_OFF,
    /** This node has handed over too often in the last minute. */
    TOO_MANY,
    /** All followers are busy, behind or silent. */
    NOBODY_FREE
  }

  /**
   * A decision.
   *
   * @param to null unless one was chosen
   */
  public record Verdict(Reason reason, String to) {}

  private final Rules rules;
  private final Map<UUID, Long> lastMillis = new HashMap<>();
  private final Map<UUID, String> lastTarget = new HashMap<>();

  /** At most {@link Rules#maxPerMinute}. */
  private final Deque<Long> lastMinute = new ArrayDeque<>();

  /** Nothing was handed over yet. */
  public HandOverPolicy(Rules rules) {
    this.rules = rules;
  }

  /**
   * Decides; a hand-over counts from now on, whether it works or not.
   *
   * @param followers those that answered
   * @param preferred the ids of those that rather lead than others, if they can as well
   * @param draw any number, for the choice at random
   */
  public Verdict decide(
      long nowMillis,
      UUID group,
      long workBytes,
      List<MemberLoad> followers,
      Collection<String> preferred,
      int draw) {
    if (workBytes < rules.thresholdBytes()) {
      return new Verdict(Reason.SMALL, null);
    }
    Long last = lastMillis.get(group);
    if (last != null && nowMillis - last < rules.backOffMillis()) {
      return new Verdict(Reason.BACK_OFF, null);
    }
    while (!lastMinute.isEmpty() && nowMillis - lastMinute.peek() >= MINUTE_MILLIS) {
      lastMinute.poll();
    }
    if (lastMinute.size() >= rules.maxPerMinute()) {
      return new Verdict(Reason.TOO_MANY, null);
    }
    List<MemberLoad> free = free(followers, preferred);
    if (free.isEmpty()) {
      return new Verdict(Reason.NOBODY_FREE, null);
    }
    String transferTarget = choose(group, free, draw);
    lastMillis.put(group, nowMillis);
    lastTarget.put(group, transferTarget);
    lastMinute.add(nowMillis);
    return new Verdict(rules.isDryRun() ? Reason.DRY_RUN : Reason.HAND_OVER, transferTarget);
  }

  /** Those that can take over; rather none that would have to hand over itself in a moment. */
  private List<MemberLoad> free(List<MemberLoad> followers, Collection<String> preferred) {
    List<MemberLoad> free =
        followers.stream()
            .filter(follower -> canLead(follower, rules.thresholdBytes()))
            .sorted(Comparator.comparing(MemberLoad::id))
            .toList();
    List<MemberLoad> idle = rather(free, HandOverPolicy::isIdle);
    return rather(idle, follower -> preferred.contains(follower.id()));
  }

  /** Whether a member is neither busy nor far behind. */
  static boolean canLead(MemberLoad follower, long thresholdBytes) {
    return follower.load().busyBytes() < thresholdBytes
        && follower.entriesBehind() <= MAX_ENTRIES_BEHIND;
  }

  /** Whether a member is not about to compact heavily. */
  static boolean isIdle(MemberLoad follower) {
    return follower.load().compactionPermit() == CompactionPermit.State.IDLE;
  }

  private static List<MemberLoad> rather(
      List<MemberLoad> followers, Predicate<MemberLoad> condition) {
    List<MemberLoad> some = followers.stream().filter(condition).toList();
    return some.isEmpty() ? followers : some;
  }

  private String choose(UUID group, List<MemberLoad> free, int draw) {
    return switch (rules.choice()) {
      case LEAST_LOADED ->
          free.stream()
              .min(
                  Comparator.comparingLong((MemberLoad follower) -> follower.load().busyBytes())
                      .thenComparingLong(MemberLoad::entriesBehind))
              .orElseThrow()
              .id();
      case RANDOM -> free.get(Math.floorMod(draw, free.size())).id();
      case ROUND_ROBIN -> {
        String before = lastTarget.getOrDefault(group, "");
        yield free.stream()
            .map(MemberLoad::id)
            .filter(id -> id.compareTo(before) > 0)
            .findFirst()
            .orElse(free.get(0).id());
      }
    };
  }
}
