// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.protocol;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The creator's side of one snapshot: takes what happened and the time, returns what to do next.
 * Not thread-safe.
 *
 * <p>A failure before the decision undoes everything; one after it changes nothing any more.
 */
public final class Creation {
  /** A node that can't be reached is asked again after this long. */
  static final long AGAIN_MILLIS = 200;

  /** What the creator has to do. */
  public sealed interface Action {
    /** Ask a node for a step, and tell its answer. */
    record Ask(String node, Step step) implements Action {}

    /** Make the tables of the snapshot, marked as not ready, in one change of the schema. */
    record AddTables() implements Action {}

    /** Mark all tables as ready, in one change of the schema. */
    record Publish() implements Action {}

    /** Drop the tables, if they were made. */
    record RemoveTables() implements Action {}

    /** Tell a node that this is over; no answer is needed. */
    record Release(String node) implements Action {}

    /** Tell the client. */
    record End(Outcome outcome) implements Action {}
  }

  /**
   * How it ended.
   *
   * @param isCreated whether the snapshot exists; if not, nothing of it does
   * @param problems by node: why it failed, or which nodes do not know yet that it exists
   */
  public record Outcome(boolean isCreated, Map<String, String> problems) {}

  private enum Phase {
    ASKING,
    ADDING,
    PUBLISHING,
    REMOVING,
    ENDED
  }

  private final Set<String> nodes;
  private final List<Step> steps;
  private final Map<Step, Long> limitsMillis;
  private final Map<String, String> problems = new TreeMap<>();

  private Phase phase = Phase.ASKING;
  private int at;
  private long deadlineMillis;
  private boolean isPublished;

  /** Nodes that have not done the current step, and when to ask again those not reached. */
  private final Set<String> waitingFor = new TreeSet<>();

  private final Map<String, Long> askAgainAt = new TreeMap<>();

  /**
   * Makes the machine; see {@link #start}.
   *
   * @param nodes all that must have the snapshot
   * @param isGated whether writes pause for the cut
   * @param limitsMillis how long each step may take
   */
  public Creation(Set<String> nodes, boolean isGated, Map<Step, Long> limitsMillis) {
    this.nodes = new TreeSet<>(nodes);
    this.steps = Step.of(isGated);
    this.limitsMillis = Map.copyOf(limitsMillis);
  }

  /** Begins with the first step. */
  public List<Action> start(long nowMillis) {
    return ask(nowMillis);
  }

  private Step step() {
    return steps.get(at);
  }

  private List<Action> ask(long nowMillis) {
    phase = Phase.ASKING;
    deadlineMillis = nowMillis + limitsMillis.get(step());
    waitingFor.clear();
    waitingFor.addAll(nodes);
    askAgainAt.clear();
    List<Action> actions = new ArrayList<>();
    nodes.forEach(node -> actions.add(new Action.Ask(node, step())));
    return actions;
  }

  /** A node has answered. Late and repeated answers do no harm. */
  public List<Action> answered(String node, Step asked, StepAnswer answer, long nowMillis) {
    if (phase != Phase.ASKING || asked != step() || !waitingFor.contains(node)) {
      return List.of();
    }
    return switch (answer.state()) {
      case RUNNING -> List.of(new Action.Ask(node, asked));
      case FAILED -> failed(node, answer.reason());
      case DONE -> {
        waitingFor.remove(node);
        askAgainAt.remove(node);
        yield waitingFor.isEmpty() ? stepDone(nowMillis) : List.of();
      }
    };
  }

  /** A node could not be asked, or its answer got lost. */
  public List<Action> unreachable(String node, Step asked, long nowMillis) {
    if (phase == Phase.ASKING && asked == step() && waitingFor.contains(node)) {
      askAgainAt.put(node, nowMillis + AGAIN_MILLIS);
    }
    return List.of();
  }

  /** Called from time to time. */
  public List<Action> tick(long nowMillis) {
    if (phase != Phase.ASKING) {
      return List.of();
    }
    if (nowMillis >= deadlineMillis) {
      return late();
    }
    List<Action> actions = new ArrayList<>();
    askAgainAt
        .entrySet()
        .removeIf(
            entry -> {
              boolean isTime = entry.getValue() <= nowMillis;
              if (isTime) {
                actions.add(new Action.Ask(entry.getKey(), step()));
              }
              return isTime;
            });
    return actions;
  }

  private List<Action> late() {
    String reason = "No answer to " + step() + " within " + limitsMillis.get(step()) + " ms.";
    waitingFor.forEach(node -> problems.putIfAbsent(node, reason));
    return isPublished ? end() : undo();
  }

  private List<Action> failed(String node, String reason) {
    problems.put(node, reason);
    return isPublished ? end() : undo();
  }

  private List<Action> stepDone(long nowMillis) {
    return switch (step()) {
      case RESERVE -> {
        phase = Phase.ADDING;
        yield List.of(new Action.AddTables());
      }
      case LOAD -> {
        phase = Phase.PUBLISHING;
        yield List.of(new Action.Publish());
      }
      case SEE_READY -> end();
      default -> next(nowMillis);
    };
  }

  private List<Action> next(long nowMillis) {
    at++;
    return ask(nowMillis);
  }

  /** The tables are in the schema of the creator. */
  public List<Action> tablesAdded(long nowMillis) {
    assert phase == Phase.ADDING;
    return next(nowMillis);
  }

  /** The decision is on the creator's disk. */
  public List<Action> published(long nowMillis) {
    assert phase == Phase.PUBLISHING;
    isPublished = true;
    return next(nowMillis);
  }

  /** A change of the schema was refused, so that it is not in force. */
  public List<Action> schemaFailed(String creator, String reason) {
    problems.put(creator, reason);
    return phase == Phase.REMOVING ? end() : undo();
  }

  private List<Action> undo() {
    assert !isPublished;
    boolean isAdded = at > 0 || phase == Phase.ADDING;
    phase = Phase.REMOVING;
    return isAdded ? List.of(new Action.RemoveTables()) : end();
  }

  /** Nothing is left in the schema of the creator. */
  public List<Action> tablesRemoved() {
    assert phase == Phase.REMOVING;
    return end();
  }

  private List<Action> end() {
    phase = Phase.ENDED;
    List<Action> actions = new ArrayList<>();
    nodes.forEach(node -> actions.add(new Action.Release(node)));
    actions.add(new Action.End(new Outcome(isPublished, Map.copyOf(problems))));
    return actions;
  }
}
