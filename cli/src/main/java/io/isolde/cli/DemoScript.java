// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import java.io.PrintWriter;

/** The text of the demo on the terminal, and whether all that it claimed was true. */
final class DemoScript {
  private static final int WIDTH = 78;

  private final PrintWriter out;
  private int scenes;
  private boolean allHeld = true;

  DemoScript(PrintWriter out) {
    this.out = out;
  }

  PrintWriter out() {
    return out;
  }

  void title(String title) {
    print("");
    print(title);
    print("=".repeat(title.length()));
    print("");
  }

  void scene(String title) {
    scenes++;
    print("");
    print("--- %d. %s ".formatted(scenes, title) + "-".repeat(WIDTH - title.length() - 8));
    print("");
  }

  void say(String sentence) {
    print(sentence);
  }

  void cql(String statement) {
    print("    " + statement);
  }

  /** Tells what one of several clients does. */
  void step(String who, String statement, String answer) {
    print("    %-4s %-34s %s".formatted(who, statement, answer).stripTrailing());
  }

  void number(String what, String value) {
    print("    %-36s %8s".formatted(what, value));
  }

  /** Breaks a long line between words. */
  void quote(String text) {
    StringBuilder line = new StringBuilder();
    for (String word : text.split(" ", -1)) {
      if (line.length() + word.length() > WIDTH - 10 && !line.isEmpty()) {
        print("      | " + line);
        line.setLength(0);
      }
      line.append(line.isEmpty() ? "" : " ").append(word);
    }
    print("      | " + line);
  }

  /** Shows whether something holds that Isolde promises; if not, the demo fails. */
  void check(boolean holds, String claim, String otherwise) {
    allHeld &= holds;
    print(holds ? "  [holds] " + claim : "  [BROKEN] " + otherwise);
  }

  boolean allHeld() {
    return allHeld;
  }

  private void print(String line) {
    out.println(line);
    out.flush();
  }
}
