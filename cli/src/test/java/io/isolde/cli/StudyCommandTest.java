// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** {@code isolde study} without a cluster. */
class StudyCommandTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... arguments) {
    CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    return commandLine.execute(arguments);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          study --user ann --password secret    | --user is for a running cluster
          study --seconds 3601                  | at most 3600.
          study --warmup-seconds 3601           | more than 3600 seconds
          study --seconds 3600 --rate 28        | more than the 100000 rows
          """)
  void whenTheCommandCannotWorkThenASentenceSaysWhy(String line, String sentence) {
    assertThat(run(line.split(" ", -1))).isEqualTo(2);
    assertThat(err.toString()).contains(sentence);
  }

  @Test
  void whenNoFolderIsNamedThenItIsNotThatOfTheModule() {
    var study = Main.commandLine().getSubcommands().get("study").getCommandSpec();
    assertThat(study.findOption("--folder").defaultValue()).isEqualTo("staleness-study");
  }

  @Test
  void whenHelpIsWantedThenTheOptionsForALoginAreThere() {
    assertThat(run("study", "--help")).isZero();
    assertThat(out.toString()).contains("--contact-point", "--user", "--password");
  }
}
