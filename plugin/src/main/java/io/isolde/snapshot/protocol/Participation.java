// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.protocol;

import java.util.List;

/**
 * A node's side of one snapshot: which step it is at, and for how long it waits for the creator.
 * Requests may come twice or late. Not thread-safe.
 */
public final class Participation {
  /** What to do about a request. */
  public enum Decision {
    /** Begin the step, and tell how it ended. */
    BEGIN,
    /** Nothing: {@link Participation#answer} says how far it is. */
    ANSWER
  }

  private final List<Step> steps;
  private final long leaseMillis;
  private final long gateMillis;

  private int at = -1;
  private StepAnswer current = StepAnswer.DONE;
  private long lastHeardMillis;
  private long gateClosedMillis = Long.MAX_VALUE;
  private boolean isGateClosed;
  private boolean isReleased;

  /**
   * Makes the machine, at the creator's first word.
   *
   * @param isGated whether writes pause for the cut
   * @param leaseMillis after so long without a word of the creator the node gives up
   * @param gateMillis after so long writes go on, come what may
   */
  public Participation(boolean isGated, long leaseMillis, long gateMillis, long nowMillis) {
    this.steps = Step.of(isGated);
    this.leaseMillis = leaseMillis;
    this.gateMillis = gateMillis;
    this.lastHeardMillis = nowMillis;
  }

  /** The creator asks for a step. */
  public Decision asked(Step step, long nowMillis) {
    tick(nowMillis);
    lastHeardMillis = nowMillis;
    int wanted = steps.indexOf(step);
    if (wanted != at + 1 || current.state() != StepAnswer.State.DONE || isReleased) {
      return Decision.ANSWER;
    }
    if (step == Step.OPEN_GATE && !isGateClosed) {
      at = wanted;
      current =
          StepAnswer.failed(
              "Writes could not be held back for long enough: " + gateMillis + " ms.");
      return Decision.ANSWER;
    }
    at = wanted;
    current = StepAnswer.RUNNING;
    if (step == Step.CLOSE_GATE) {
      isGateClosed = true;
      gateClosedMillis = nowMillis;
    }
    return Decision.BEGIN;
  }

  /** What to tell who asked for a step. */
  public StepAnswer answer(Step step) {
    if (isReleased) {
      return StepAnswer.failed(
          "The node had given up: it did not hear of the creator for too long.");
    }
    int wanted = steps.indexOf(step);
    if (current.state() == StepAnswer.State.FAILED || wanted == at) {
      return current;
    }
    return wanted < at ? StepAnswer.DONE : StepAnswer.RUNNING;
  }

  /** A step that was begun has ended. */
  public void ended(Step step, StepAnswer answer) {
    if (!isReleased
        && at >= 0
        && steps.get(at) == step
        && current.state() == StepAnswer.State.RUNNING) {
      current = answer;
      if (step == Step.OPEN_GATE) {
        isGateClosed = false;
      }
    }
  }

  /** Returns whether the node is to let go of all that it holds for the snapshot. */
  public boolean tick(long nowMillis) {
    if (isGateClosed && nowMillis - gateClosedMillis >= gateMillis) {
      isGateClosed = false;
    }
    // A step of its own may take longer than a creator's silence.
    boolean isSilent = nowMillis - lastHeardMillis >= leaseMillis;
    if (isSilent && current.state() != StepAnswer.State.RUNNING) {
      isReleased = true;
    }
    return isReleased;
  }

  /** The creator says that it is over, or the node gives up. */
  public void release() {
    isReleased = true;
    isGateClosed = false;
  }

  /** Whether writes are to wait. */
  public boolean isGateClosed() {
    return isGateClosed;
  }

  /** Whether it is over here. */
  public boolean isReleased() {
    return isReleased;
  }
}
