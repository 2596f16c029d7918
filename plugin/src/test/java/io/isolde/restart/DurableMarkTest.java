// SPDX-License-Identifier: Apache-2.0
package io.isolde.restart;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DurableMarkTest {
  @TempDir Path directory;

  @Test
  void whenItWasWrittenThenItIsReadAgain() throws Exception {
    Path file = directory.resolve("commitlog").resolve("mark");
    assertThat(DurableMark.read(file)).isEmpty();
    DurableMark mark = new DurableMark(false, 1_000, List.of(4L, 900L));
    mark.write(file);
    assertThat(DurableMark.read(file)).contains(mark);
    mark.stopped().write(file);
    assertThat(DurableMark.read(file)).contains(new DurableMark(true, 1_000, List.of(4L, 900L)));
    DurableMark.NOTHING.write(file);
    assertThat(DurableMark.read(file)).contains(new DurableMark(false, 0, List.of()));
  }

  @Test
  void whenItCanNotBeUnderstoodThenItVouchesForNothing() throws Exception {
    for (String text : new String[] {"", "running", "stopped x", "stopped 1 x"}) {
      Path file = Files.writeString(directory.resolve("mark"), text);
      assertThat(DurableMark.read(file)).as(text).contains(DurableMark.NOTHING);
    }
  }
}
