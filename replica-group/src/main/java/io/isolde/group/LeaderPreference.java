// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * When a leader that is not where leaders are wanted hands its group over to a member that is. That
 * member must have been well at several looks in a row. Else a node that comes and goes would take
 * the leaders along each time. A group that comes back soon is handed over less and less often: who
 * took it can't keep it. Pure: time comes from outside.
 */
public final class LeaderPreference {
  /** Between two looks. */
  public static final long LOOK_MILLIS = 1_000;

  /** So often in a row must a member have been well. */
  static final int LOOKS = 3;

  static final long FIRST_BACK_OFF_MILLIS = 10_000;
  static final long MAX_BACK_OFF_MILLIS = 600_000;

  /** A group that comes back within this time comes back soon. */
  private static final long SOON_MILLIS = 2 * MAX_BACK_OFF_MILLIS;

  private record Seen(long appliedIndex, int looks) {}

  /** What is known of a group that this node leads or has led. */
  private static final class Watched {
    private Map<String, Seen> members = Map.of();
    private long lookedRound;
    private long triedMillis;
    private long handedOverMillis;

    /** 0 as long as it was not handed over. */
    private long backOffMillis;
  }

  private final long thresholdBytes;

  /** At most those that {@link #startRound} was given last, and those looked at since. */
  private final Map<UUID, Watched> groups = new HashMap<>();

  /** Rounds and not milliseconds, since a round with slow members may take long. */
  private long round;

  /**
   * No group was looked at yet.
   *
   * @param thresholdBytes a member with so much work before it does not take over, see {@link
   *     HandOverPolicy.Rules}
   */
  public LeaderPreference(long thresholdBytes) {
    this.thresholdBytes = thresholdBytes;
  }

  /**
   * Starts a round, in which each group that this node leads is looked at once. What was seen of a
   * group counts no more if a round goes by without it.
   *
   * @param known all other groups are forgotten
   */
  public void startRound(Collection<UUID> known) {
    round++;
    groups.keySet().retainAll(known);
  }

  /**
   * Looks at a group that this node leads.
   *
   * @param appliedIndex of this node
   * @param members that are where leaders are wanted, if they have answered; the first that can
   *     lead is chosen
   * @return to whom it may be handed over now; see {@link #tried}
   */
  public Optional<String> look(
      long nowMillis, UUID group, long appliedIndex, List<MemberLoad> members) {
    Watched watched = groups.computeIfAbsent(group, id -> new Watched());
    Map<String, Seen> before = watched.lookedRound + 1 < round ? Map.of() : watched.members;
    watched.lookedRound = round;
    watched.members = new HashMap<>();
    for (MemberLoad member : members) {
      Seen last = before.getOrDefault(member.id(), new Seen(-1, 0));
      long applied = appliedIndex - member.entriesBehind();
      boolean isWell =
          HandOverPolicy.canLead(member, thresholdBytes)
              && HandOverPolicy.isIdle(member)
              && (member.entriesBehind() == 0 || applied > last.appliedIndex());
      watched.members.put(member.id(), new Seen(applied, isWell ? last.looks() + 1 : 0));
    }
    if (watched.backOffMillis > 0 && nowMillis - watched.handedOverMillis < watched.backOffMillis) {
      return Optional.empty();
    }
    return members.stream()
        .map(MemberLoad::id)
        .filter(id -> watched.members.get(id).looks() >= LOOKS)
        .findFirst();
  }

  /** When it was tried last to hand a group over; 0 if it never was. */
  public long triedMillis(UUID group) {
    Watched watched = groups.get(group);
    return watched == null ? 0 : watched.triedMillis;
  }

  /**
   * Notes that it was tried to hand a group over. Members must be well for a while before the next
   * time.
   *
   * @param isRefused whether nothing was done; then there is no back-off
   */
  public void tried(long nowMillis, UUID group, boolean isRefused) {
    Watched watched = groups.computeIfAbsent(group, id -> new Watched());
    watched.triedMillis = nowMillis;
    watched.members = Map.of();
    if (isRefused) {
      return;
    }
    boolean isSoonAgain =
        watched.backOffMillis > 0 && nowMillis - watched.handedOverMillis <= SOON_MILLIS;
    watched.backOffMillis =
        isSoonAgain
            ? Math.min(2 * watched.backOffMillis, MAX_BACK_OFF_MILLIS)
            : FIRST_BACK_OFF_MILLIS;
    watched.handedOverMillis = nowMillis;
  }
}
