// SPDX-License-Identifier: Apache-2.0
package io.isolde.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What nodes say of references is found in their logs. */
class NothingLeaksTest {
  @Test
  void whenALogTellsOfAReferenceThatWasNotReleasedThenItIsFound(@TempDir Path folder)
      throws IOException {
    Path log =
        Files.writeString(
            folder.resolve("system.log"),
            """
            INFO  [main] 2026-01-01 00:00:00,000 Server.java:1 - started
            ERROR [Reference-Reaper] 2026-01-01 00:00:01,000 Ref.java:1 - LEAK DETECTED: a reference
            ERROR [main] 2026-01-01 00:00:02,000 Ref.java:1 - BAD RELEASE: attempted to release
            """);
    assertThat(NothingLeaks.leaks(log))
        .hasSize(2)
        .allMatch(line -> line.startsWith(log.toString()))
        .noneMatch(line -> line.contains("started"));
    assertThat(NothingLeaks.leaks(folder.resolve("gone.log"))).isEmpty();
  }
}
