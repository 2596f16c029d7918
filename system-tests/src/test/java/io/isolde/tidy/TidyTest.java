// SPDX-License-Identifier: Apache-2.0
package io.isolde.tidy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The rules of the house that a tool can check; see CONTRIBUTING.md. */
class TidyTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final int MAX_LINES = 400;

  /** So many lines in a row that stand elsewhere too are one thing written twice. */
  private static final int MAX_REPEATED_LINES = 10;

  private static final Pattern UNFINISHED = Pattern.compile("\\b(TODO|FIXME|XXX|HACK)\\b");
  private static final Pattern LINK = Pattern.compile("\\[[^\\]]*\\]\\(([^)#\\s]+)(#[^)]*)?\\)");
  private static final Pattern SKIPPED = Pattern.compile("@Disabled|@Ignore");

  private static List<Path> files(String ending) throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      return files
          .filter(file -> file.toString().endsWith(ending))
          .filter(
              file ->
                  !ROOT.relativize(file)
                      .toString()
                      .matches("(.*/)?(target|node_modules|venv|\\.\\w+)/.*"))
          .sorted()
          .toList();
    }
  }

  private static boolean isMain(Path file) {
    return file.toString().contains("/src/main/");
  }

  @Test
  void whenAFileGrowsPastItsIdeaThenItIsTimeToDivideIt() throws IOException {
    for (Path file : files(".java")) {
      assertThat(Files.readAllLines(file).size())
          .as("lines of %s", ROOT.relativize(file))
          .isLessThanOrEqualTo(MAX_LINES);
    }
  }

  @Test
  void whenSomethingIsUnfinishedThenItIsNotInMainAndNoTestIsSkipped() throws IOException {
    for (Path file : files(".java")) {
      if (file.getFileName().toString().equals("TidyTest.java")) {
        continue;
      }
      String source = Files.readString(file);
      assertThat(SKIPPED.matcher(source).find()).as("skips in %s", file).isFalse();
      if (isMain(file)) {
        assertThat(UNFINISHED.matcher(source).find()).as("unfinished in %s", file).isFalse();
      }
    }
  }

  @Test
  void whenADocumentLinksToAFileThenItIsThere() throws IOException {
    int links = 0;
    for (Path file : files(".md")) {
      Matcher link = LINK.matcher(Files.readString(file));
      while (link.find()) {
        if (link.group(1).contains("://")) {
          continue;
        }
        links++;
        assertThat(file.getParent().resolve(link.group(1)))
            .as("link in %s", ROOT.relativize(file))
            .exists();
      }
    }
    assertThat(links).isPositive();
  }

  @Test
  void whenLogicIsWrittenTwiceThenOneOfThemIsTooMany() throws IOException {
    Map<String, Path> seen = new HashMap<>();
    List<String> repeated = new ArrayList<>();
    for (Path file : files(".java").stream().filter(TidyTest::isMain).toList()) {
      List<String> lines = logic(file);
      for (int i = 0; i + MAX_REPEATED_LINES <= lines.size(); i++) {
        String run = String.join("\n", lines.subList(i, i + MAX_REPEATED_LINES));
        Path first = seen.putIfAbsent(run, file);
        if (first != null) {
          repeated.add(ROOT.relativize(first) + " and " + ROOT.relativize(file) + ":\n" + run);
        }
      }
    }
    assertThat(repeated).isEmpty();
  }

  /** The lines that say something: no imports, comments, annotations or lone brackets. */
  private static List<String> logic(Path file) throws IOException {
    return Files.readAllLines(file).stream()
        .map(String::strip)
        .filter(line -> line.matches(".*\\w.*"))
        .filter(line -> !line.matches("(import|package|//|\\*|/\\*|@).*"))
        .toList();
  }
}
