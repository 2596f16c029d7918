// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.snapshot.protocol.Creation.Action;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The creator's side, one answer after another. */
class CreationTest {
  private static final Set<String> NODES = Set.of("a", "b");

  private static Creation creation(boolean isGated) {
    Map<Step, Long> limits = new EnumMap<>(Step.class);
    for (Step step : Step.values()) {
      limits.put(step, 1000L);
    }
    return new Creation(NODES, isGated, limits);
  }

  private static List<Action> asks(Step step) {
    return List.of(new Action.Ask("a", step), new Action.Ask("b", step));
  }

  private static List<Action> bothDo(Creation creation, Step step) {
    assertThat(creation.answered("a", step, StepAnswer.DONE, 0)).isEmpty();
    return creation.answered("b", step, StepAnswer.DONE, 0);
  }

  private static List<Action> ends(boolean isCreated, Map<String, String> problems) {
    List<Action> actions = new ArrayList<>();
    actions.add(new Action.Release("a"));
    actions.add(new Action.Release("b"));
    actions.add(new Action.End(new Creation.Outcome(isCreated, problems)));
    return actions;
  }

  @Test
  void whenAllGoesWellThenEachStepFollowsTheLast() {
    Creation creation = creation(true);
    assertThat(creation.start(0)).isEqualTo(asks(Step.RESERVE));
    assertThat(bothDo(creation, Step.RESERVE)).containsExactly(new Action.AddTables());
    assertThat(creation.tablesAdded(0)).isEqualTo(asks(Step.SEE_TABLES));
    assertThat(bothDo(creation, Step.SEE_TABLES)).isEqualTo(asks(Step.CLOSE_GATE));
    assertThat(bothDo(creation, Step.CLOSE_GATE)).isEqualTo(asks(Step.CUT));
    assertThat(bothDo(creation, Step.CUT)).isEqualTo(asks(Step.OPEN_GATE));
    assertThat(bothDo(creation, Step.OPEN_GATE)).isEqualTo(asks(Step.LOAD));
    assertThat(bothDo(creation, Step.LOAD)).containsExactly(new Action.Publish());
    assertThat(creation.published(0)).isEqualTo(asks(Step.SEE_READY));
    assertThat(bothDo(creation, Step.SEE_READY)).isEqualTo(ends(true, Map.of()));
  }

  @Test
  void whenNobodyMayBeReservedThenThereIsNothingToRemove() {
    Creation creation = creation(false);
    var unused = creation.start(0);
    assertThat(creation.answered("b", Step.RESERVE, StepAnswer.failed("No."), 0))
        .isEqualTo(ends(false, Map.of("b", "No.")));
  }

  @Test
  void whenANodeFailsLaterThenTheTablesGo() {
    Creation creation = creation(false);
    var unused = creation.start(0);
    unused = bothDo(creation, Step.RESERVE);
    unused = creation.tablesAdded(0);
    assertThat(creation.answered("a", Step.SEE_TABLES, StepAnswer.failed("No."), 0))
        .containsExactly(new Action.RemoveTables());
    assertThat(creation.answered("b", Step.SEE_TABLES, StepAnswer.DONE, 0)).isEmpty();
    assertThat(creation.tablesRemoved()).isEqualTo(ends(false, Map.of("a", "No.")));
  }

  @Test
  void whenANodeDoesNotAnswerThenItIsAskedAgainUntilItIsTooLate() {
    Creation creation = creation(false);
    var unused = creation.start(0);
    assertThat(creation.unreachable("a", Step.RESERVE, 0)).isEmpty();
    assertThat(creation.tick(100)).isEmpty();
    assertThat(creation.tick(200)).containsExactly(new Action.Ask("a", Step.RESERVE));
    assertThat(creation.tick(300)).isEmpty();
    assertThat(creation.answered("b", Step.RESERVE, StepAnswer.DONE, 400)).isEmpty();
    assertThat(creation.tick(1000))
        .isEqualTo(ends(false, Map.of("a", "No answer to RESERVE within 1000 ms.")));
  }

  @Test
  void whenItIsDecidedThenANodeThatIsLateChangesNothing() {
    Creation creation = creation(false);
    var unused = creation.start(0);
    unused = bothDo(creation, Step.RESERVE);
    unused = creation.tablesAdded(0);
    for (Step step : List.of(Step.SEE_TABLES, Step.CUT, Step.LOAD)) {
      unused = bothDo(creation, step);
    }
    unused = creation.published(0);
    assertThat(creation.answered("a", Step.SEE_READY, StepAnswer.failed("Slow."), 0))
        .isEqualTo(ends(true, Map.of("a", "Slow.")));
  }

  @Test
  void whenTheGateWasOpenTooEarlyThenANodeSaysSo() {
    Participation node = new Participation(true, 10_000, 500, 0);
    for (Step step : List.of(Step.RESERVE, Step.SEE_TABLES, Step.CLOSE_GATE, Step.CUT)) {
      assertThat(node.asked(step, 0)).isEqualTo(Participation.Decision.BEGIN);
      node.ended(step, StepAnswer.DONE);
    }
    assertThat(node.isGateClosed()).isTrue();
    assertThat(node.asked(Step.OPEN_GATE, 500)).isEqualTo(Participation.Decision.ANSWER);
    assertThat(node.answer(Step.OPEN_GATE).state()).isEqualTo(StepAnswer.State.FAILED);
  }

  @Test
  void whenTheCreatorIsSilentThenANodeGivesUp() {
    Participation node = new Participation(false, 10_000, 500, 0);
    assertThat(node.asked(Step.RESERVE, 0)).isEqualTo(Participation.Decision.BEGIN);
    assertThat(node.tick(20_000)).as("while it works").isFalse();
    node.ended(Step.RESERVE, StepAnswer.DONE);
    assertThat(node.tick(20_000)).isTrue();
    assertThat(node.answer(Step.RESERVE).state()).isEqualTo(StepAnswer.State.FAILED);
  }
}
