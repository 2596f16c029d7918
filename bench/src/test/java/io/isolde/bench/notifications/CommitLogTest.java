// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.List;
import org.junit.jupiter.api.Test;

class CommitLogTest {
  private final CommitLog log = new CommitLog();

  @Test
  void whenCommitsAreAcknowledgedThenItHasThemInOrder() {
    log.committed(3);
    log.doubtful();
    log.committed(8);
    assertThat(log.written()).isEqualTo(new CommitLog.Written(List.of(3L, 8L), 1));
  }

  @Test
  void whenACommitIsNotAfterTheLastThenItIsRefused() {
    log.committed(8);
    assertThatIllegalStateException().isThrownBy(() -> log.committed(8));
  }
}
