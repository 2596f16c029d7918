// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The log of a replica is damaged, torn, or can't be written for a while. */
class FailedLogTest {
  private static final int WRITES = 20;

  @TempDir Path folder;

  @Test
  void whenTheEndOfALogIsTornThenTheReplicaGetsItAgain() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      write(nodes, "before");
      int victim = (nodes.leader() + 1) % 3;
      nodes.crash(victim);
      for (Path file : logs(victim)) {
        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(bytes, bytes.length - 9));
      }

      nodes.start(victim);

      GroupNodes.await(() -> has(nodes, victim, "before"));
      assertThat(nodes.servers.get(victim).problem(GroupNodes.GROUP)).isEmpty();
    }
  }

  @Test
  void whenALogIsDamagedThenItsReplicaSaysSoAndRunsAgainWithoutTheDamagedFiles() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      write(nodes, "before");
      int victim = (nodes.leader() + 1) % 3;
      nodes.crash(victim);
      for (Path file : logs(victim)) {
        byte[] bytes = Files.readAllBytes(file);
        for (int i = 0; i < 8; i++) {
          bytes[bytes.length / 2 + i] ^= 0x5a;
        }
        Files.write(file, bytes);
      }

      nodes.start(victim);

      assertThat(nodes.servers.get(victim).group(GroupNodes.GROUP)).isEmpty();
      assertThat(nodes.servers.get(victim).problem(GroupNodes.GROUP).orElseThrow())
          .contains("is damaged: entry ");
      write(nodes, "meanwhile");
      for (Path file : logs(victim)) {
        Files.delete(file);
      }
      GroupNodes.await(() -> nodes.servers.get(victim).problem(GroupNodes.GROUP).isEmpty());
      GroupNodes.await(() -> has(nodes, victim, "before") && has(nodes, victim, "meanwhile"));
      nodes.lead(victim);
    }
  }

  @Test
  void whenALogCannotBeWrittenForAWhileThenItsReplicaComesBackByItself() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      int victim = (nodes.leader() + 1) % 3;
      int other = 3 - nodes.leader() - victim;
      write(nodes, "before");
      Path files = current(victim);
      Path away = files.resolveSibling("away");
      Files.move(files, away);

      nodes.lead(other); // A term begins a file.

      write(nodes, "meanwhile");
      GroupNodes.await(() -> nodes.servers.get(victim).problem(GroupNodes.GROUP).isPresent());
      Files.move(away, files);
      GroupNodes.await(() -> nodes.servers.get(victim).problem(GroupNodes.GROUP).isEmpty());
      GroupNodes.await(() -> has(nodes, victim, "meanwhile"));
    }
  }

  private static void write(GroupNodes nodes, String value) throws Exception {
    for (int i = 0; i < WRITES; i++) {
      nodes.write(nodes.leader(), "key" + i, value);
      nodes.write(nodes.leader(), value, value);
    }
  }

  private static boolean has(GroupNodes nodes, int number, String value) {
    return value.equals(nodes.storages.get(number).get(value));
  }

  private Path current(int number) {
    return folder
        .resolve("n" + number)
        .resolve("logs")
        .resolve(GroupNodes.GROUP.toString())
        .resolve("current");
  }

  private List<Path> logs(int number) throws IOException {
    try (var files = Files.list(current(number))) {
      return files.filter(file -> file.getFileName().toString().startsWith("log_")).toList();
    }
  }
}
