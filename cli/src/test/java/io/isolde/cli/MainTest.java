// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The command line without nodes: what it understands, refuses and says. */
class MainTest {

  @TempDir private Path home;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... arguments) {
    CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    return commandLine.execute(arguments);
  }

  private int runAtHome(String... arguments) {
    return run(
        Stream.concat(Stream.of(arguments), Stream.of("--home", home.toString()))
            .toArray(String[]::new));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--help",
        "start --help",
        "stop --help",
        "status --help",
        "cluster --help",
        "cluster create --help",
        "cluster start --help",
        "cluster remove --help",
        "oracle --help",
        "oracle add --help",
        "oracle status --help"
      })
  void whenHelpIsAskedForThenUsageAndExitCodesAreShown(String arguments) {
    assertThat(run(arguments.split(" ", -1))).isZero();
    assertThat(out.toString()).contains("Usage: isolde").contains("Exit codes:");
  }

  @Test
  void whenOptionsHaveDefaultsThenHelpShowsThem() {
    run("cluster", "create", "--help");
    assertThat(out.toString()).contains("Default: 3", "Default: 512", "Default: 9042");
  }

  @ParameterizedTest
  @ValueSource(strings = {"status", "add 127.0.0.9", "remove 127.0.0.9", "leader 127.0.0.9"})
  void whenThereIsNoNodeToAskThenOneSentenceSaysWhatToDo(String arguments) {
    assertThat(runAtHome(("oracle " + arguments).split(" ", -1))).isEqualTo(1);
    assertThat(err.toString())
        .startsWith("There is no development node.")
        .contains("isolde start", "--at")
        .doesNotContain("\tat ");
  }

  @Test
  void whenNobodyListensWhereTheOracleIsAskedThenOneSentenceSaysSo() {
    assertThat(runAtHome("oracle", "status", "--at=127.0.0.1:1")).isEqualTo(1);
    assertThat(err.toString()).isEqualTo("No node answers CQL at 127.0.0.1:1.%n".formatted());
  }

  @Test
  void whenWhatIsGivenIsNoAddressThenItIsRefused() {
    assertThat(runAtHome("oracle", "add", "x'; DROP")).isEqualTo(2);
    assertThat(runAtHome("oracle", "status", "--at=a b")).isEqualTo(2);
    assertThat(err.toString()).contains("is not an address", "is not a node");
  }

  @Test
  void whenACommandIsUnknownThenTheErrorNamesItAndSuggestsOthers() {
    assertThat(run("startt")).isEqualTo(2);
    assertThat(err.toString()).contains("'startt'").contains("isolde start ");
  }

  @Test
  void whenNoCommandIsGivenThenUsageIsShown() {
    assertThat(run()).isEqualTo(2);
    assertThat(err.toString()).contains("Usage: isolde");
  }

  @Test
  void whenAClusterIsUnknownThenOneSentenceSaysSo() {
    assertThat(runAtHome("cluster", "stop", "nobody")).isEqualTo(1);
    assertThat(err.toString()).startsWith("There is no cluster at " + home).doesNotContain("\tat ");
  }

  @Test
  void whenANameCouldLeaveTheHomeThenItIsRefused() {
    assertThat(runAtHome("cluster", "create", "../x")).isEqualTo(2);
    assertThat(err.toString()).contains("letters, digits");
  }

  @Test
  void whenAClusterIsCreatedThenItIsListedUntilItIsRemoved() {
    assertThat(runAtHome("cluster", "create", "blue", "--nodes=2", "--heap=300", "--stock"))
        .isZero();
    assertThat(runAtHome("status")).isZero();
    assertThat(out.toString())
        .contains("127.0.0.1:9042", "127.0.0.2:9042", "stopped", "heap 300 MB, stock");
    assertThat(runAtHome("cluster", "stop", "blue", "--node=3")).isEqualTo(2);
    assertThat(runAtHome("cluster", "create", "blue")).isEqualTo(1);
    assertThat(runAtHome("cluster", "remove", "blue")).isZero();
    assertThat(home.resolve("clusters")).isEmptyDirectory();
  }

  @Test
  void whenThereIsNoNodeThenStatusAndStopSaySo() {
    assertThat(runAtHome("status")).isZero();
    assertThat(runAtHome("stop")).isZero();
    assertThat(out.toString()).contains("There is no cluster", "There is no development node");
  }

  @Test
  void whenTheJarsAreNotKnownThenStartSaysWhichPropertyIsMissing() {
    assertThat(runAtHome("start")).isEqualTo(1);
    assertThat(err.toString()).contains("isolde.cassandra.dir");
  }
}
