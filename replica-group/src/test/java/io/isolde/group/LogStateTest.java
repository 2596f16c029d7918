// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;

/** What a checkpoint has of the log. */
class LogStateTest {
  private static final RequestId ID = new RequestId(1, 1, 1);

  private static LogState withOneWrite() {
    LogState state = new LogState();
    assertThat(state.next(ID, 1_000).isRepetition()).isFalse();
    return state;
  }

  @Test
  void whenAStateIsRestoredThenTheStorageGetsBackWhatItGave() throws IOException {
    LogState restored = new LogState();
    assertThat(restored.restore(withOneWrite().save(new byte[] {1, 2}))).containsExactly(1, 2);
    assertThat(restored.next(ID, 2_000).isRepetition()).isTrue();
    assertThat(restored.lastMicros()).isEqualTo(1_000);
  }

  @Test
  void whenAnotherBuildSavedTheStateThenItIsNotRead() {
    byte[] later = withOneWrite().save(new byte[0]);
    later[0]++;
    assertThatThrownBy(() -> new LogState().restore(later))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("version 4, not 3");
  }
}
