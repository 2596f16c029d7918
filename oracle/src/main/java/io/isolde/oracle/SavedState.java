// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.io.DataOutput;
import java.io.IOException;

/**
 * A copy of all that decides the future answers of a {@link StatusOracle}, at one moment. The
 * oracle may go on, in its thread, while this is written in another.
 */
public final class SavedState {
  private final OracleState state;

  /**
   * @param state nobody else's
   */
  SavedState(OracleState state) {
    this.state = state;
  }

  /** Writes it, for {@link StatusOracle#load}. */
  public void writeTo(DataOutput out) throws IOException {
    state.writeTo(out);
  }
}
