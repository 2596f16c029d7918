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
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The rules of the house that a tool can check; see CONTRIBUTING.md. */
class TidyTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final int MAX_LINES = 400;

  /** The heart of a module, one file of it, may be longer than the rest. */
  private static final int MAX_LINES_OF_A_HEART = 600;

  /** So many lines in a row that stand elsewhere too are one thing written twice. */
  private static final int MAX_REPEATED_LINES = 10;

  private static final Pattern UNFINISHED = Pattern.compile("\\b(TODO|FIXME|XXX|HACK)\\b");
  private static final Pattern LINK = Pattern.compile("\\[[^\\]]*\\]\\(([^)#\\s]+)(#[^)]*)?\\)");
  private static final Pattern BOUND = Pattern.compile("\\b(MOST|LONGEST|LARGEST)_[A-Z]");

  /** Words that Isolde once had of its own; docs/glossary.md has the field's words for them. */
  private static final Pattern PRIVATE_WORD =
      Pattern.compile(
          "(?i)tells?|told|untold|teller|settle[ds]?|settling|settlement|reigns?|heirs?|lanes?"
              + "|parcels?|turns?|begins|founders?|founding|dut(y|ies)|resting");

  private static final Pattern SET_ASIDE = Pattern.compile("(?i)set_?aside");

  private static final Pattern NO_CODE =
      Pattern.compile(
          "/\\*.*?\\*/|//[^\n]*|\"\"\".*?\"\"\"|\"(\\\\.|[^\"\\\\\n])*\"", Pattern.DOTALL);

  private static final Pattern IDENTIFIER = Pattern.compile("\\b[A-Za-z_]\\w*\\b");

  /** Where the words of an identifier begin. */
  private static final Pattern NEXT_WORD = Pattern.compile("(?<=[a-z0-9])(?=[A-Z])|_");

  /** What clients see of the server, and files that every package has. */
  private static final Set<String> SHARED_NOUNS =
      Set.of(
          "ErrorCode",
          "IsolationLevel",
          "IsoldeException",
          "Outcome",
          "Transaction",
          "package-info");

  private static final Pattern SKIPPED = Pattern.compile("@Disabled|@Ignore");

  private static final int MAX_WORDS_OF_A_SENTENCE = 25;

  /** Blocks of code, and the rows of tables. */
  private static final Pattern NO_PROSE = Pattern.compile("(?ms)^ *```.*?^ *```|^ *\\|[^\n]*");

  private static final Pattern CODE_SPAN = Pattern.compile("`[^`]*`");
  private static final Pattern LINK_TARGET = Pattern.compile("\\]\\([^)]*\\)");

  /** An empty line, a list item or a heading, or the space after a mark that ends a thought. */
  private static final Pattern NEXT_SENTENCE =
      Pattern.compile("\n\\s*(\n|[-*] |\\d+\\. |#+ )|(?<=[.!?:;])[)\\]\"*_]*\\s");

  /** Javadoc, or lines of // one after the other. */
  private static final Pattern COMMENT =
      Pattern.compile("(?ms)/\\*\\*.*?\\*/|(^[ \t]*//[^\n]*\n)+");

  private static final Pattern COMMENT_MARK =
      Pattern.compile("(?m)^[ \t]*(/\\*\\*|\\*(?!/)|//)|\\*/");
  private static final Pattern INLINE_TAG = Pattern.compile("\\{@(code|link|linkplain)\\s[^}]*\\}");
  private static final Pattern EXAMPLE = Pattern.compile("(?s)<pre>.*?</pre>");

  /** Where Javadoc begins something new. */
  private static final Pattern BLOCK_TAG =
      Pattern.compile("@param (<\\w>|\\w+)|@return|@throws \\w+|<p>|<li>");

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
    Map<Path, Path> hearts = new HashMap<>();
    for (Path file : files(".java")) {
      int lines = Files.readAllLines(file).size();
      Path name = ROOT.relativize(file);
      assertThat(lines).as("lines of %s", name).isLessThanOrEqualTo(MAX_LINES_OF_A_HEART);
      if (lines > MAX_LINES) {
        assertThat(hearts.putIfAbsent(name.getName(0), name))
            .as("another file of the module of more than %d lines than %s", MAX_LINES, name)
            .isNull();
      }
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
  void whenSomethingIsBoundedThenTheBoundIsCalledMax() throws IOException {
    for (Path file : files(".java")) {
      if (!file.getFileName().toString().equals("TidyTest.java")) {
        assertThat(BOUND.matcher(Files.readString(file)).find()).as("bounds in %s", file).isFalse();
      }
    }
  }

  @Test
  void whenSomethingHasANameThenItsWordsAreThoseOfTheField() throws IOException {
    List<String> found = new ArrayList<>();
    for (Path file : files(".java").stream().filter(TidyTest::isMain).toList()) {
      Matcher name = IDENTIFIER.matcher(NO_CODE.matcher(Files.readString(file)).replaceAll(" "));
      while (name.find()) {
        for (String word : NEXT_WORD.split(name.group(), -1)) {
          if (PRIVATE_WORD.matcher(word).matches() || SET_ASIDE.matcher(name.group()).find()) {
            found.add(ROOT.relativize(file) + ": " + name.group());
          }
        }
      }
    }
    assertThat(found).isEmpty();
  }

  @Test
  void whenSomethingNeedsRatisThenItIsInTheOnePackageForThat() throws IOException {
    for (Path file : files(".java").stream().filter(TidyTest::isMain).toList()) {
      if (!file.getParent().endsWith("io/isolde/raft/ratis")) {
        String code = NO_CODE.matcher(Files.readString(file)).replaceAll(" ");
        assertThat(code).as("in %s", ROOT.relativize(file)).doesNotContain("org.apache.ratis");
      }
    }
  }

  @Test
  void whenTwoClassesHaveTheSameNameThenTheyAreTheSameNounInTheClientAndTheServer()
      throws IOException {
    Map<String, Path> seen = new HashMap<>();
    List<String> found = new ArrayList<>();
    for (Path file : files(".java").stream().filter(TidyTest::isMain).toList()) {
      String name = file.getFileName().toString().replace(".java", "");
      Path first = seen.putIfAbsent(name, file);
      if (first != null && !SHARED_NOUNS.contains(name)) {
        found.add(ROOT.relativize(first) + " and " + ROOT.relativize(file));
      }
    }
    assertThat(found).isEmpty();
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
  void whenADocumentIsWrittenThenItsSentencesAreShort() throws IOException {
    List<String> found = new ArrayList<>();
    for (Path file : files(".md")) {
      found.addAll(longSentences(file, prose(file)));
    }
    assertThat(found).isEmpty();
  }

  @Test
  void whenACommentIsWrittenThenItsSentencesAreShort() throws IOException {
    List<String> found = new ArrayList<>();
    for (Path file : files(".java").stream().filter(TidyTest::isMain).toList()) {
      found.addAll(longSentences(file, comments(file)));
    }
    assertThat(found).isEmpty();
  }

  private static List<String> longSentences(Path file, String prose) {
    List<String> found = new ArrayList<>();
    for (String sentence : NEXT_SENTENCE.split(prose, -1)) {
      String[] words = sentence.strip().split("\\s+", -1);
      if (words.length > MAX_WORDS_OF_A_SENTENCE) {
        found.add(ROOT.relativize(file) + ": " + String.join(" ", words));
      }
    }
    return found;
  }

  /** What a reader sees of a document's sentences; a code span is one word. */
  private static String prose(Path file) throws IOException {
    String text = NO_PROSE.matcher(Files.readString(file)).replaceAll("\n\n");
    String visible = LINK_TARGET.matcher(text).replaceAll("]");
    return CODE_SPAN.matcher(visible).replaceAll("`code`");
  }

  /** What a reader sees of the comments of a file; an inline tag is one word. */
  private static String comments(Path file) throws IOException {
    String text =
        COMMENT
            .matcher(Files.readString(file))
            .results()
            .map(MatchResult::group)
            .collect(Collectors.joining("\n\n"));
    String prose = INLINE_TAG.matcher(COMMENT_MARK.matcher(text).replaceAll("")).replaceAll("code");
    return BLOCK_TAG.matcher(EXAMPLE.matcher(prose).replaceAll(" ")).replaceAll("\n\n");
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
