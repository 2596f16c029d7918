// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Arrays;
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

  /** It ended where the storage's part begins. */
  @Test
  void whenAnEarlierBuildSavedTheStateThenTheStorageGetsNothing() throws IOException {
    byte[] now = withOneWrite().save(new byte[0]);
    byte[] before = Arrays.copyOf(now, now.length - Integer.BYTES);
    before[0] = 1;
    LogState restored = new LogState();
    assertThat(restored.restore(before)).isEmpty();
    assertThat(restored.next(ID, 2_000).isRepetition()).isTrue();
  }

  @Test
  void whenALaterBuildSavedTheStateThenItIsNotRead() {
    byte[] later = withOneWrite().save(new byte[0]);
    later[0]++;
    assertThatThrownBy(() -> new LogState().restore(later))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("version 3");
  }
}
