// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** {@code isolde staleness} and {@code isolde study} without a node. */
class StalenessCommandTest {
  private final StringWriter err = new StringWriter();

  private int run(String... arguments) {
    CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(new StringWriter())).setErr(new PrintWriter(err));
    return commandLine.execute(arguments);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          staleness orders                      | Name a table as keyspace.table
          staleness shop.orders --t 10          | "10" is not a time like 10ms
          staleness shop.orders --fresh 101     | A probability is between 0 and 1
          staleness shop.orders --coordinator x | --coordinator is replica or any
          staleness shop.orders --p 99.9        | --p is between 0 and 1
          staleness shop.orders --reads -1      | --reads between 0 and 100
          study --nodes 2                       | A study needs at least 3 nodes
          study --profile moon                  | "moon" is neither a profile (none, lan
          study --contact-point 127.0.0.1 --churn | churn is for a local one
          """)
  void whenTheCommandCannotWorkThenASentenceSaysWhy(String line, String sentence) {
    assertThat(run(line.split(" ", -1))).isEqualTo(2);
    assertThat(err.toString()).contains(sentence);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --t 10ms                      | --t
          --after 10ms --fresh 99       | --t, --fresh
          --p 0.99 --advise             | --p, --advise
          --read-p99 5ms --reads 80     | --read-p99, --reads
          --datacenter eu --trials 10   | --datacenter, --trials
          """)
  void whenAKeyspaceIsStrongThenOptionsOfThePredictionAreNamedAsOutOfPlace(
      String options, String named) {
    assertThat(strongRefusal("staleness bank.accounts " + options).orElseThrow())
        .contains("bank is a strong keyspace")
        .endsWith("Leave out " + named + ".");
    assertThat(strongRefusal("staleness bank.accounts --at 127.0.0.1")).isEmpty();
  }

  private static Optional<String> strongRefusal(String line) {
    CommandLine.ParseResult parsed = Main.commandLine().parseArgs(line.split(" ", -1));
    return StrongStaleness.refusal("bank", parsed.subcommand());
  }

  @Test
  void whenTimesAreGivenThenTheirUnitsCount() {
    MillisConverter times = new MillisConverter();
    assertThat(times.convert("10ms")).isEqualTo(10);
    assertThat(times.convert("1.5s")).isEqualTo(1500);
    assertThat(times.convert("250us")).isEqualTo(0.25);
  }
}
