// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.protocol;

/**
 * What a node says of a step.
 *
 * @param reason a full sentence if the step failed, else empty
 */
public record StepAnswer(State state, String reason) {

  /** How far a node is. */
  public enum State {
    /** It is at it: ask again. */
    RUNNING,
    DONE,
    /** It can't, and won't. */
    FAILED
  }

  public static final StepAnswer RUNNING = new StepAnswer(State.RUNNING, "");
  public static final StepAnswer DONE = new StepAnswer(State.DONE, "");

  public static StepAnswer failed(String reason) {
    return new StepAnswer(State.FAILED, reason);
  }
}
