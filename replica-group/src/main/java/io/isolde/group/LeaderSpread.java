// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Which groups are to have another leader, so that nodes lead about equally many. Leading costs
 * more than following, and a node that has joined or restarted leads nothing. No other choice of
 * leaders is more equal: the sum of the squares of what nodes lead is the least that there is.
 * Where nodes lead about equally many, nothing changes. Pure; the same groups give the same
 * transfers.
 */
public final class LeaderSpread {
  /** By group, as the transfers would have it. */
  private final List<Led> groups;

  private final List<String> leaders = new ArrayList<>();
  private final Map<String, Integer> ledBy = new TreeMap<>();

  /**
   * A group with a leader.
   *
   * @param leader its id
   * @param candidates the ids of the members that may lead; the leader, too, if it may go on. None:
   *     the group stays as it is
   */
  public record Led(int group, String leader, List<String> candidates) {
    public Led {
      candidates = List.copyOf(candidates);
    }
  }

  /** A group is to be led by another member. */
  public record Transfer(int group, String to) {}

  /** A step of a chain: a group that its leader could give to somebody. */
  private record Step(int index, String from) {}

  private LeaderSpread(List<Led> groups) {
    this.groups =
        groups.stream()
            .filter(led -> !led.candidates().isEmpty())
            .sorted(Comparator.comparingInt(Led::group))
            .toList();
    for (Led led : this.groups) {
      led.candidates().forEach(node -> ledBy.putIfAbsent(node, 0));
    }
    for (Led led : this.groups) {
      leaders.add(led.leader());
      ledBy.computeIfPresent(led.leader(), (node, count) -> count + 1);
    }
  }

  /** Returns the transfers, in the order of the groups' numbers. */
  public static List<Transfer> of(List<Led> groups) {
    LeaderSpread spread = new LeaderSpread(groups);
    spread.replaceThoseThatMayNotLead();
    spread.level();
    return spread.transfers();
  }

  private void replaceThoseThatMayNotLead() {
    for (int i = 0; i < groups.size(); i++) {
      List<String> candidates = groups.get(i).candidates();
      if (!candidates.contains(leaders.get(i))) {
        give(i, candidates.stream().min(Comparator.comparing(ledBy::get)).orElseThrow());
      }
    }
  }

  /** Each round lessens the sum of the squares, so this ends. */
  private void level() {
    boolean isBetter;
    do {
      isBetter = busiestFirst().stream().anyMatch(this::relieve);
    } while (isBetter);
  }

  private List<String> busiestFirst() {
    return ledBy.keySet().stream()
        .sorted(Comparator.comparing(ledBy::get, Comparator.reverseOrder()))
        .toList();
  }

  /**
   * Lets a node lead one group less and another, which leads fewer by two at least, one more. They
   * need not share a group: those between them give one and get one.
   */
  private boolean relieve(String from) {
    int enough = ledBy.get(from) - 2;
    Map<String, Step> reached = new HashMap<>();
    Deque<String> open = new ArrayDeque<>(List.of(from));
    while (!open.isEmpty()) {
      String giver = open.poll();
      for (int i = 0; i < groups.size(); i++) {
        if (!leaders.get(i).equals(giver)) {
          continue;
        }
        for (String taker : groups.get(i).candidates()) {
          if (taker.equals(from) || reached.putIfAbsent(taker, new Step(i, giver)) != null) {
            continue;
          }
          if (ledBy.get(taker) <= enough) {
            giveAlong(reached, taker);
            return true;
          }
          open.add(taker);
        }
      }
    }
    return false;
  }

  private void giveAlong(Map<String, Step> reached, String last) {
    String taker = last;
    Optional<Step> step = Optional.of(reached.get(last));
    while (step.isPresent()) {
      give(step.get().index(), taker);
      taker = step.get().from();
      step = Optional.ofNullable(reached.get(taker));
    }
  }

  private void give(int index, String to) {
    ledBy.computeIfPresent(leaders.get(index), (node, count) -> count - 1);
    ledBy.merge(to, 1, Integer::sum);
    leaders.set(index, to);
  }

  private List<Transfer> transfers() {
    List<Transfer> transfers = new ArrayList<>();
    for (int i = 0; i < groups.size(); i++) {
      if (!leaders.get(i).equals(groups.get(i).leader())) {
        transfers.add(new Transfer(groups.get(i).group(), leaders.get(i)));
      }
    }
    return List.copyOf(transfers);
  }
}
