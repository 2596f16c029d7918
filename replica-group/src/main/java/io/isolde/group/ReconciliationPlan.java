// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.function.Predicate;

/**
 * What is to be done before replicas of a group move, so that its layout says what is so and nobody
 * is one too many. A move may have been interrupted before it was noted, or the layout may have
 * gone back. Or a node may have taken the place of a dead one at its address. Pure.
 */
public final class ReconciliationPlan {
  private ReconciliationPlan() {}

  /** A thing to do. */
  public sealed interface Step {
    /** The layout is to say that one is in the place of another, as it is. */
    record Note(Layout.Member old, Layout.Member next) implements Step {}

    /** A member is to go, and nobody comes. */
    record Dismissal(Layout.Member member) implements Step {}

    /** The layout is to say that there is one more, as it is. */
    record NoteArrival(Layout.Member next) implements Step {}

    /** The layout is to say that one is no member, as it is. */
    record NoteDeparture(Layout.Member old) implements Step {}
  }

  /**
   * The steps, in their order. Of two of whom one is too many, the one goes that the layout does
   * not know. The other goes instead if it is dead or is to go anyway: a group of two that has just
   * taken in a third may live with that one alone.
   *
   * @param layout the members that the layout names
   * @param members those that the group has
   * @param wanted how many it is to have
   * @param shallGo of one that the layout names, whether it is dead or must have no replicas
   */
  public static List<Step> of(
      List<Layout.Member> layout,
      List<Layout.Member> members,
      int wanted,
      Predicate<Layout.Member> shallGo) {
    Deque<Layout.Member> replaced = new ArrayDeque<>();
    layout.stream().filter(old -> !isIn(members, old)).forEach(replaced::add);
    layout.stream().filter(old -> isIn(members, old)).filter(shallGo).forEach(replaced::add);
    List<Step> steps = new ArrayList<>();
    int noted = layout.size();
    for (Layout.Member one : members) {
      if (isIn(layout, one)) {
        continue;
      }
      Layout.Member old = replaced.poll();
      if (old == null && noted < wanted) {
        steps.add(new Step.NoteArrival(one));
        noted++;
        continue;
      }
      if (old == null) {
        steps.add(new Step.Dismissal(one));
        continue;
      }
      if (isIn(members, old)) {
        steps.add(new Step.Dismissal(old));
      }
      steps.add(new Step.Note(old, one));
    }
    for (Layout.Member old : replaced) {
      if (!isIn(members, old)) {
        steps.add(new Step.NoteDeparture(old));
      }
    }
    return steps;
  }

  private static boolean isIn(Collection<Layout.Member> members, Layout.Member one) {
    return members.stream().anyMatch(member -> member.id().equals(one.id()));
  }
}
