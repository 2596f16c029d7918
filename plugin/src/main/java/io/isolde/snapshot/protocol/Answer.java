// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.protocol;

/**
 * What a node says of a step.
 *
 * @param reason a full sentence if the step failed, else empty
 */
public record Answer(State state, String reason) {

  /** How far a node is. */
  public enum State {
    /** It is at it: ask again. */
    RUNNING,
    DONE,
    /** It can't, and won't. */
    FAILED
  }

  public static final Answer RUNNING = new Answer(State.RUNNING, "");
  public static final Answer DONE = new Answer(State.DONE, "");

  public static Answer failed(String reason) {
    return new Answer(State.FAILED, reason);
  }
}
