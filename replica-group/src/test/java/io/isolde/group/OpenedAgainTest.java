// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.raft.LogPosition;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A replica that stops and starts again in its process goes on with the storage that it had. */
class OpenedAgainTest {
  @TempDir private Path folder;

  @Test
  void whenThereIsNoCheckpointThenTheStorageForgetsWhatTheLogWillSayAgain() throws Exception {
    MemoryStorage storage = new MemoryStorage(address -> null);
    long unused = storage.apply(MemoryStorage.emptying(), null, 500);
    assertThat(storage.state()).isNotEqualTo(new byte[Long.BYTES]);
    GroupStateMachine machine =
        new GroupStateMachine(new UUID(0, 1), storage, null, 1 << 20, index -> {});
    assertThat(machine.open(folder)).isEqualTo(LogPosition.NONE);
    assertThat(storage.state()).isEqualTo(new byte[Long.BYTES]);
  }
}
