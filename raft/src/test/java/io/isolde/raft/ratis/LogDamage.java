// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.UnaryOperator;

/** What can happen to the files of a node that isn't running. */
final class LogDamage {
  private final Path files;

  LogDamage(Path directory) {
    files = directory.resolve(TestCluster.GROUP.getUuid().toString()).resolve("current");
  }

  Path files() {
    return files;
  }

  /** The file that is written to. */
  Path open() throws IOException {
    return logs().stream()
        .filter(file -> file.getFileName().toString().startsWith("log_inprogress_"))
        .findFirst()
        .orElseThrow();
  }

  List<Path> logs() throws IOException {
    try (var all = Files.list(files)) {
      return all.filter(file -> file.getFileName().toString().startsWith("log_"))
          .sorted(Comparator.comparing(Path::toString))
          .toList();
    }
  }

  static void change(Path file, UnaryOperator<byte[]> how) throws IOException {
    Files.write(file, how.apply(Files.readAllBytes(file)));
  }

  static int used(byte[] bytes) {
    int end = bytes.length;
    while (end > 0 && bytes[end - 1] == 0) {
      end--;
    }
    return end;
  }

  /** Zeros at the end of what is used, as if it had not come to the disk. */
  static byte[] zeroEnd(byte[] bytes, int count) {
    int end = used(bytes);
    Arrays.fill(bytes, end - count, end, (byte) 0);
    return bytes;
  }

  static byte[] truncate(byte[] bytes, int count) {
    return Arrays.copyOf(bytes, used(bytes) - count);
  }

  static byte[] flip(byte[] bytes, int from, int count) {
    for (int i = from; i < from + count; i++) {
      bytes[i] ^= 0x5a;
    }
    return bytes;
  }
}
