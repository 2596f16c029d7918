// SPDX-License-Identifier: Apache-2.0
package io.isolde.restart;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DurableCheckpointTest {
  @TempDir Path directory;

  @Test
  void whenItWasWrittenThenItIsReadAgain() throws Exception {
    Path file = directory.resolve("commitlog").resolve("mark");
    assertThat(DurableCheckpoint.read(file)).isEmpty();
    DurableCheckpoint checkpoint = new DurableCheckpoint(false, 1_000, List.of(4L, 900L));
    checkpoint.write(file);
    assertThat(DurableCheckpoint.read(file)).contains(checkpoint);
    checkpoint.stopped().write(file);
    assertThat(DurableCheckpoint.read(file))
        .contains(new DurableCheckpoint(true, 1_000, List.of(4L, 900L)));
    DurableCheckpoint.NOTHING.write(file);
    assertThat(DurableCheckpoint.read(file)).contains(new DurableCheckpoint(false, 0, List.of()));
  }

  @Test
  void whenItCanNotBeUnderstoodThenItVouchesForNothing() throws Exception {
    for (String text : new String[] {"", "running", "stopped x", "stopped 1 x"}) {
      Path file = Files.writeString(directory.resolve("mark"), text);
      assertThat(DurableCheckpoint.read(file)).as(text).contains(DurableCheckpoint.NOTHING);
    }
  }
}
