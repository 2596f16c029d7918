// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** {@code isolde bench} without a node: what it understands, refuses and says. */
class BenchCommandTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... arguments) {
    CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    return commandLine.execute(arguments);
  }

  @Test
  void whenABenchmarkIsUnknownThenTheErrorListsAll() {
    assertThat(run("bench", "speed")).isEqualTo(2);
    assertThat(err.toString()).contains("\"speed\"").contains("versions");
  }

  @Test
  void whenNoneIsNamedThenTheErrorListsAll() {
    assertThat(run("bench")).isEqualTo(2);
    assertThat(err.toString()).contains("Name a benchmark: ").contains("versions, ");
  }

  @Test
  void whenAListIsAskedForThenEachHasASummary() {
    assertThat(run("bench", "--list")).isZero();
    assertThat(out.toString()).containsPattern("versions +the cost");
  }

  @Test
  void whenAnOptionCannotWorkThenASentenceSaysWhy() {
    assertThat(run("bench", "versions", "--rounds=0")).isEqualTo(2);
    assertThat(err.toString()).contains("The rounds are 0, but must be at least 1.");
  }

  @Test
  void whenHelpIsAskedForThenDefaultsAreShown() {
    assertThat(run("bench", "--help")).isZero();
    assertThat(out.toString()).contains("Default: 50", "Default: 20000", "--json=FILE");
  }
}
