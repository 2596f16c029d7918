// SPDX-License-Identifier: Apache-2.0
package io.isolde.tidy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Which package uses which of Cassandra's classes: the list to go through for the next version of
 * Cassandra. A new use is a line in src/test/resources/cassandra-internals.txt, to be thought
 * about.
 */
class CassandraInternalsTest {
  /** Ours are in {@code io.isolde}, but for what needs classes that a package hides. */
  private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([\\w.]+);");

  private static final Pattern USE =
      Pattern.compile("(?m)^import (org\\.apache\\.cassandra[\\w.]+);");

  @Test
  void whenAPackageUsesAClassOfCassandraThenItIsOnTheList() throws IOException {
    TreeSet<String> uses = new TreeSet<>();
    try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
      for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
        String source = Files.readString(file);
        Matcher in = PACKAGE.matcher(source);
        assertThat(in.find()).as("a package in %s", file).isTrue();
        Matcher use = USE.matcher(source);
        while (use.find()) {
          uses.add(in.group(1) + " " + use.group(1));
        }
      }
    }
    List<String> listed = Files.readAllLines(Path.of("src/test/resources/cassandra-internals.txt"));
    assertThat(uses).containsExactlyElementsOf(listed);
  }
}
