// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DurableFileTest {
  @TempDir private Path folder;

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void whenAFileIsReplacedThenItHasTheNewContentAndNothingElseIsLeft() throws Exception {
    Path file = folder.resolve("note");
    DurableFile.write(file, bytes("a longer one"));
    Files.writeString(folder.resolve("note.unfinished"), "what a crash has left, and is longer");
    DurableFile.write(file, bytes("a short one"));
    assertThat(file).hasContent("a short one");
    try (var files = Files.list(folder)) {
      assertThat(files).containsExactly(file);
    }
  }

  @Test
  void whenItCanNotBeWrittenThenTheOldOneStays() throws Exception {
    Path file = folder.resolve("note");
    DurableFile.write(file, bytes("old"));
    Files.createDirectory(folder.resolve("note.unfinished"));
    assertThatThrownBy(() -> DurableFile.write(file, bytes("new"))).isInstanceOf(IOException.class);
    assertThat(file).hasContent("old");
  }

  @Test
  void whenSomethingIsDeletedThenItIsGoneAndItIsNoMatterIfItWas() throws Exception {
    Path file = folder.resolve("note");
    DurableFile.write(file, bytes("old"));
    DurableFile.delete(file);
    DurableFile.delete(file);
    Path inside = Files.createDirectories(folder.resolve("log").resolve("current"));
    DurableFile.write(inside.resolve("part"), bytes("entries"));
    DurableFile.deleteTree(folder.resolve("log"));
    assertThat(folder).isEmptyDirectory();
  }
}
