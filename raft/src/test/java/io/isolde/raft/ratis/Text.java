// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.LogData;
import java.nio.charset.StandardCharsets;

/** What tests propose; it keeps the answer of the {@link CountingStateMachine}. */
final class Text implements LogData {
  private final String text;
  private String answer;

  Text(String text) {
    this.text = text;
  }

  @Override
  public byte[] encode() {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  void applied(String newAnswer) {
    answer = newAnswer;
  }

  /** Null if it is not applied. */
  String answer() {
    return answer;
  }
}
