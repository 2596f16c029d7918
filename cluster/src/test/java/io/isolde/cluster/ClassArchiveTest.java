// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClassArchiveTest {
  private static final String RECORDING = "-XX:+RecordDynamicDumpInfo";

  @TempDir Path folder;

  private List<Path> jars;

  @BeforeEach
  void makeJars() throws IOException {
    jars = List.of(folder.resolve("a.jar"), folder.resolve("b.jar"));
    for (Path jar : jars) {
      Files.writeString(jar, "content");
    }
  }

  private ClassArchive archive() {
    return ClassArchive.of(folder, jars);
  }

  @Test
  void whenNothingChangesThenItIsTheSameArchive() {
    assertThat(archive()).isEqualTo(archive());
  }

  @Test
  void whenAJarOrTheOrderChangesThenItIsAnotherArchive() throws IOException {
    ClassArchive before = archive();
    assertThat(ClassArchive.of(folder, List.of(jars.get(1), jars.get(0)))).isNotEqualTo(before);
    Files.writeString(jars.get(0), "other content");
    assertThat(archive()).isNotEqualTo(before);
  }

  @Test
  void whenThereIsAnArchiveThenNodesUseItElseTheyNoteWhatBelongsThere() throws IOException {
    assertThat(archive().jvmOptions(true)).contains(RECORDING);
    Files.writeString(archive().file(), "classes");
    assertThat(archive().jvmOptions(true))
        .contains("-XX:SharedArchiveFile=" + archive().file())
        .doesNotContain(RECORDING);
  }

  @Test
  void whenANodeHasClassesOfOthersThenItUsesAnArchiveAndWritesNone() throws IOException {
    String used = "-XX:SharedArchiveFile=" + archive().file();
    assertThat(archive().jvmOptions(false)).doesNotContain(RECORDING, used);
    Files.writeString(archive().file(), "classes");
    assertThat(archive().jvmOptions(false)).contains(used);
  }

  @Test
  void whenTheNodeCannotWriteTheArchiveThenNothingIsLeftBehind() throws IOException {
    archive().writeOnce(Long.MAX_VALUE, String.join("\n", archive().jvmOptions(true)));
    try (var files = Files.list(folder)) {
      assertThat(files).containsExactlyInAnyOrderElementsOf(jars);
    }
  }
}
