// SPDX-License-Identifier: Apache-2.0
package io.isolde.tidy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Packages need one another in one direction only: each can be read after those that it needs. */
class PackagesTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([\\w.]+);");

  /** A class by its whole name: in an import, or where it is used. */
  private static final Pattern CLASS =
      Pattern.compile("\\b(io\\.isolde(?:\\.[a-z]\\w*)*)\\.[A-Z]\\w*");

  private static final Pattern NO_CODE =
      Pattern.compile("/\\*.*?\\*/|//[^\n]*|\"(\\\\.|[^\"\\\\\n])*\"", Pattern.DOTALL);

  @Test
  void whenAPackageNeedsAnotherThenThatDoesNotNeedIt() throws IOException {
    Map<String, Set<String>> needs = new TreeMap<>();
    try (Stream<Path> files = Files.walk(ROOT, 16)) {
      for (Path file : files.filter(PackagesTest::isMain).toList()) {
        String code = NO_CODE.matcher(Files.readString(file)).replaceAll(" ");
        Matcher own = PACKAGE.matcher(code);
        assertThat(own.find()).as("package of %s", file).isTrue();
        Set<String> needed = needs.computeIfAbsent(own.group(1), name -> new TreeSet<>());
        CLASS.matcher(code).results().forEach(used -> needed.add(used.group(1)));
      }
    }
    assertThat(needs.get("io.isolde.transaction")).contains("io.isolde.apply");
    assertThat(circle(needs)).isEmpty();
  }

  private static boolean isMain(Path file) {
    String name = ROOT.relativize(file).toString();
    return name.matches("[\\w-]+/src/main/java/.*\\.java") && !name.endsWith("package-info.java");
  }

  @Test
  void whenPackagesNeedOneAnotherInACircleThenItIsFound() {
    assertThat(circle(Map.of("a", Set.of("b"), "b", Set.of("c"), "c", Set.of("a", "d"))))
        .containsExactlyInAnyOrder("a", "b", "c");
    assertThat(circle(Map.of("a", Set.of("a", "b", "c"), "b", Set.of("c")))).isEmpty();
  }

  /** The packages that are needed by what they need, in one circle or several. */
  private static List<String> circle(Map<String, Set<String>> needs) {
    return needs.keySet().stream().filter(name -> isNeededByItsNeeds(name, needs)).toList();
  }

  private static boolean isNeededByItsNeeds(String name, Map<String, Set<String>> needs) {
    Set<String> seen = new TreeSet<>();
    Deque<String> next = new ArrayDeque<>(others(name, needs));
    while (!next.isEmpty()) {
      String needed = next.pop();
      if (needed.equals(name)) {
        return true;
      }
      if (seen.add(needed)) {
        next.addAll(others(needed, needs));
      }
    }
    return false;
  }

  private static Set<String> others(String name, Map<String, Set<String>> needs) {
    Set<String> others = new TreeSet<>(needs.getOrDefault(name, Set.of()));
    others.remove(name);
    return others;
  }
}
