// SPDX-License-Identifier: Apache-2.0
package io.isolde.error;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the codes promise is the same in the plugin, in the clients and in the docs. */
class ErrorCodesTest {
  private static final Path ROOT = Path.of("..");

  /** Codes that only clients make. */
  private static final Set<String> OF_CLIENTS = Set.of("REQUEST_FAILED", "UNKNOWN");

  private static final Pattern ROW =
      Pattern.compile(
          "\\| (`[A-Z_]+…?`(?:, `[A-Z_]+…?`)*) \\| (yes|no) \\|"
              + " \\**(not committed|committed|unknown)\\** \\|.*");
  private static final Pattern NAME = Pattern.compile("`([A-Z_]+…?)`");

  /**
   * Sentences that are Cassandra's own, word for word, so that a client sees no difference between
   * a plain table and one of Isolde's. All others end with a trailer.
   */
  private static final Set<String> IN_CASSANDRAS_WORDS =
      Set.of(
          "block/BlockRun.java",
          "block/ExactNumbers.java",
          "block/ExpressionCompiler.java",
          "cql/IsoldeQueryHandler.java",
          "cql/LateRefusals.java",
          "cql/StatementChecks.java",
          "statement/ConditionalWrites.java",
          "statement/ValueChange.java",
          "error/IsoldeException.java",
          "replication/StrongErrors.java",
          "apply/Denylist.java",
          "transaction/StatementValidator.java",
          "unique/UniqueIndex.java",
          "unique/UniqueSchema.java",
          "cql/UniqueIndexStatements.java",
          "cql/WatchStatements.java",
          "version/VersionIndex.java");

  private record Promise(boolean isRetryable, String outcome) {}

  @ParameterizedTest
  @EnumSource(ErrorCode.class)
  void whenThereIsACodeThenTheDocsPromiseWhatTheTrailerSays(ErrorCode code) throws IOException {
    Map<String, Promise> rows = rows();
    String family = code.name().replaceFirst("_.*", "_…");
    assertThat(rows.getOrDefault(code.name(), rows.get(family)))
        .as("the row of %s in docs/guarantees.md", code)
        .isEqualTo(
            new Promise(
                code.isRetryable(),
                code.outcome().name().toLowerCase(Locale.ROOT).replace('_', ' ')));
  }

  @Test
  void whenTheDocsHaveARowThenThereIsSuchACode() throws IOException {
    Set<String> documented = new TreeSet<>(rows().keySet());
    documented.removeIf(name -> name.endsWith("…"));
    documented.removeAll(OF_CLIENTS);
    assertThat(names()).containsAll(documented);
  }

  @Test
  void whenThereIsACodeThenBothClientsKnowItAndNoOther() throws IOException {
    Set<String> expected = new TreeSet<>(names());
    expected.addAll(OF_CLIENTS);
    assertThat(found("client/src/main/java/io/isolde/client/ErrorCode.java", "  ([A-Z_]+)[,;]"))
        .isEqualTo(expected);
    assertThat(found("python/src/isolde/errors.py", "    ([A-Z_]{4,}) = \"\\1\""))
        .isEqualTo(expected);
  }

  @Test
  void whenIsoldeRefusesThenItsSentenceEndsWithATrailer() throws IOException {
    List<String> without = new ArrayList<>();
    Path main = Path.of("src/main/java/io/isolde");
    try (Stream<Path> files = Files.walk(main)) {
      for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
        String source = Files.readString(file);
        if (source.contains("new InvalidRequestException(")
            || source.contains("new SyntaxException(")) {
          without.add(main.relativize(file).toString().replace('\\', '/'));
        }
      }
    }
    assertThat(IN_CASSANDRAS_WORDS).containsAll(without);
  }

  private static Set<String> names() {
    return Stream.of(ErrorCode.values()).map(Enum::name).collect(Collectors.toSet());
  }

  private static Map<String, Promise> rows() throws IOException {
    Map<String, Promise> rows = new TreeMap<>();
    for (String line : Files.readAllLines(ROOT.resolve("docs/guarantees.md"))) {
      Matcher row = ROW.matcher(line);
      if (row.matches()) {
        Promise promise = new Promise(row.group(2).equals("yes"), row.group(3));
        NAME.matcher(row.group(1)).results().forEach(name -> rows.put(name.group(1), promise));
      }
    }
    return rows;
  }

  private static Set<String> found(String file, String pattern) throws IOException {
    Pattern line = Pattern.compile(pattern);
    return Files.readAllLines(ROOT.resolve(file)).stream()
        .map(line::matcher)
        .filter(Matcher::matches)
        .map(matcher -> matcher.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
