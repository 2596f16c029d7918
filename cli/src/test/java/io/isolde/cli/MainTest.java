// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.DriverTimeoutException;
import io.isolde.torture.CommitLogSync;
import io.isolde.torture.FaultKind;
import io.isolde.torture.TortureOptions;
import io.isolde.torture.WorkloadKind;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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
        "oracle status --help",
        "groups --help",
        "groups leader --help",
        "groups rebalance --help",
        "snapshot --help",
        "snapshot create --help"
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
  @ValueSource(
      strings = {
        "oracle status",
        "oracle add 127.0.0.9",
        "oracle remove 127.0.0.9",
        "oracle leader 127.0.0.9",
        "groups status",
        "ring",
        "ring --history",
        "groups leader bank 127.0.0.9",
        "groups rebalance bank --without 127.0.0.9"
      })
  void whenThereIsNoNodeToAskThenOneSentenceSaysWhatToDo(String arguments) {
    assertThat(runAtHome(arguments.split(" ", -1))).isEqualTo(1);
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

  /** A node that is busy or paused has nothing against us. */
  @Test
  void whenANodeDoesNotAnswerInTimeThenNobodySaysThatItRefuses() {
    assertThat(CqlConnection.whyNot("here", new DriverTimeoutException("timed out after PT5S")))
        .contains("did not answer", "Try again")
        .doesNotContain("let us in");
  }

  @Test
  void whenWhatIsGivenIsNoSnapshotThenItIsRefused() {
    assertThat(runAtHome("snapshot", "drop", "x; DROP")).isEqualTo(2);
    assertThat(runAtHome("snapshot", "create", "s", "k.t", "--ttl=soon")).isEqualTo(2);
    assertThat(runAtHome("snapshot", "create", "s", "k.t;")).isEqualTo(2);
    assertThat(runAtHome("snapshot", "list")).isEqualTo(1);
  }

  @Test
  void whenSizesAndAgesAreShownThenPeopleCanReadThem() {
    assertThat(SnapshotCommand.size(0)).isEqualTo("0 B");
    assertThat(SnapshotCommand.size(1536)).isEqualTo("1.5 KiB");
    assertThat(SnapshotCommand.size(5L << 40)).isEqualTo("5.0 TiB");
    assertThat(SnapshotCommand.age(3723)).isEqualTo("1 h 2 min 3 s");
    assertThat(SnapshotCommand.age(180_000)).isEqualTo("2 d 2 h");
  }

  @Test
  void whenWhatIsGivenIsNoAddressThenItIsRefused() {
    assertThat(runAtHome("oracle", "add", "x'; DROP")).isEqualTo(2);
    assertThat(runAtHome("oracle", "status", "--at=a b")).isEqualTo(2);
    assertThat(runAtHome("groups", "leader", "bank", "x'; DROP")).isEqualTo(2);
    assertThat(runAtHome("groups", "leader", "bank; DROP", "127.0.0.9")).isEqualTo(2);
    assertThat(runAtHome("groups", "rebalance", "bank", "--without", "x'; DROP")).isEqualTo(2);
    assertThat(err.toString())
        .contains("is not an address", "is not a node", "is not the name of a keyspace");
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

  /** A report of torture shows the command that made it. */
  @Test
  void whenATortureShowsItsOptionsThenTheyAreUnderstood() {
    TortureOptions options =
        new TortureOptions(
            Duration.ofMinutes(3),
            8,
            5,
            4,
            List.of(FaultKind.KILL_ALL, FaultKind.PAUSE),
            600,
            WorkloadKind.STRONG_TRANSACTIONS,
            CommitLogSync.PERIODIC);
    CommandLine.ParseResult parsed =
        Main.commandLine()
            .parseArgs(
                Stream.concat(Stream.of("torture"), options.toArguments().stream())
                    .toArray(String[]::new))
            .subcommand();
    assertThat(parsed.<WorkloadKind>matchedOptionValue("--workload", null))
        .isEqualTo(options.workload());
    assertThat(parsed.<List<FaultKind>>matchedOptionValue("--faults", null))
        .isEqualTo(options.faults());
    assertThat(parsed.<CommitLogSync>matchedOptionValue("--commitlog-sync", null))
        .isEqualTo(options.commitLogSync());
  }
}
