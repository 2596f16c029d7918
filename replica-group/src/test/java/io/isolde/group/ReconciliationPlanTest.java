// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.group.ReconciliationPlan.Step;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ReconciliationPlanTest {
  private static final Layout.Member A = member("a");
  private static final Layout.Member B = member("b");
  private static final Layout.Member C = member("c");
  private static final Layout.Member D = member("d");

  private static Layout.Member member(String id) {
    return new Layout.Member(id, id + ":7000");
  }

  private static List<Step> reconcile(
      List<Layout.Member> layout, List<Layout.Member> members, Layout.Member... shallGo) {
    return ReconciliationPlan.of(layout, members, layout.size(), Set.of(shallGo)::contains);
  }

  private static List<Step> resized(
      int wanted, List<Layout.Member> layout, List<Layout.Member> members) {
    return ReconciliationPlan.of(layout, members, wanted, member -> false);
  }

  @Test
  void whenOneHasComeOrGoneAndThatWasNotNotedThenItIs() {
    assertThat(resized(3, List.of(A, B), List.of(A, B, C)))
        .containsExactly(new Step.NoteArrival(C));
    assertThat(resized(3, List.of(A), List.of(A, B, C)))
        .containsExactly(new Step.NoteArrival(B), new Step.NoteArrival(C));
    assertThat(resized(2, List.of(A), List.of(A, B, C)))
        .containsExactly(new Step.NoteArrival(B), new Step.Dismissal(C));
    assertThat(resized(1, List.of(A, B, C), List.of(A, C)))
        .containsExactly(new Step.NoteDeparture(B));
    // Whatever is wanted by now: who is no member must not be read.
    assertThat(resized(3, List.of(A, B, C), List.of(A, C)))
        .containsExactly(new Step.NoteDeparture(B));
    assertThat(resized(2, List.of(A, B, C), List.of(A, D)))
        .containsExactly(new Step.Note(B, D), new Step.NoteDeparture(C));
  }

  @Test
  void whenTheLayoutIsRightThenNothingIsToBeDone() {
    assertThat(reconcile(List.of(A, B, C), List.of(C, A, B))).isEmpty();
    assertThat(reconcile(List.of(A, B, C), List.of(C, A, B), B)).isEmpty();
    Layout.Member moved = new Layout.Member("b", "elsewhere:7000");
    assertThat(reconcile(List.of(A, B, C), List.of(A, moved, C))).isEmpty();
  }

  @Test
  void whenAMoveWasNotNotedThenItIs() {
    assertThat(reconcile(List.of(A, B, C), List.of(A, C, D))).containsExactly(new Step.Note(B, D));
    assertThat(reconcile(List.of(A, B), List.of(C, D)))
        .containsExactly(new Step.Note(A, C), new Step.Note(B, D));
  }

  @Test
  void whenANewMemberIsOneTooManyThenItGoes() {
    assertThat(reconcile(List.of(A, B), List.of(A, B, D))).containsExactly(new Step.Dismissal(D));
    assertThat(reconcile(List.of(A), List.of(A, D))).containsExactly(new Step.Dismissal(D));
  }

  /** The other way round, {A, B} would wait for A for ever, though B and D have everything. */
  @Test
  void whenAnOldMemberIsDeadThenItGoesAndTheNewOneStays() {
    assertThat(reconcile(List.of(A, B), List.of(A, B, D), A))
        .containsExactly(new Step.Dismissal(A), new Step.Note(A, D));
  }

  @Test
  void whenOneHasGoneAlreadyThenItsPlaceIsTakenFirst() {
    assertThat(reconcile(List.of(A, B, C), List.of(B, C, D), C))
        .containsExactly(new Step.Note(A, D));
  }
}
