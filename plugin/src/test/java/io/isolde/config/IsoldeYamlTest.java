// SPDX-License-Identifier: Apache-2.0
package io.isolde.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.group.HandOverPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IsoldeYamlTest {
  private static final String SETTING = "\\w+:( \\S+)?";

  @Test
  void whenNothingIsSetThenTheDefaultsCount() {
    IsoldeConfig config = IsoldeYaml.parse("# nothing\n");
    assertThat(config.versions().retentionMicros()).isEqualTo(10_000_000);
    assertThat(config.versions().storeBytes()).isGreaterThanOrEqualTo(64 << 20);
    assertThat(config).isEqualTo(IsoldeYaml.load(null));
  }

  @Test
  void whenSettingsAreGivenThenTheyAreReadLikeCassandras() {
    IsoldeConfig config =
        IsoldeYaml.parse(
            """
            version_store_size: 128MiB
            version_retention: 2m
            transaction_max_idle: 1500ms
            max_open_transactions: 7
            """);
    assertThat(config.versions().storeBytes()).isEqualTo(128 << 20);
    assertThat(config.versions().retentionMicros()).isEqualTo(120_000_000);
    assertThat(config.transactions().maxIdleMillis()).isEqualTo(1500);
    assertThat(config.transactions().maxOpen()).isEqualTo(7);
  }

  @Test
  void whenTheOracleIsSetThenItsSettingsAreRead() {
    IsoldeConfig config =
        IsoldeYaml.parse(
            """
            oracle_members: [10.0.0.1, 10.0.0.2, 10.0.0.3]
            oracle_port: 17311
            oracle_directory: /fast/oracle
            oracle_log_sync: os
            coordinator_lease: 3s
            oracle_timeout: 1500ms
            conflict_log_size: 50
            """);
    assertThat(config.oracle().members()).containsExactly("10.0.0.1", "10.0.0.2", "10.0.0.3");
    assertThat(config.oracle().port()).isEqualTo(17311);
    assertThat(config.oracle().directory()).isEqualTo("/fast/oracle");
    assertThat(config.oracle().isLogSynced()).isFalse();
    assertThat(config.oracle().coordinatorLeaseMillis()).isEqualTo(3000);
    assertThat(config.oracle().timeoutMillis()).isEqualTo(1500);
    assertThat(config.transactions().conflictLogSize()).isEqualTo(50);
  }

  @Test
  void whenThePushPortIsSetThenItIsOpenAndElseItIsNot() {
    assertThat(IsoldeYaml.parse("").push().isOn()).isFalse();
    PushSettings push = IsoldeYaml.parse("push_port: 7314\npush_max_connections: 50").push();
    assertThat(push).isEqualTo(new PushSettings(7314, 50));
    assertThatThrownBy(() -> IsoldeYaml.parse("push_port: 7311"))
        .hasMessageContaining("push_port must not be the oracle_port");
    assertThatThrownBy(() -> IsoldeYaml.parse("push_max_connections: 0"))
        .hasMessageContaining("push_max_connections must be between");
  }

  @Test
  void whenNothingIsSaidOfTheOracleThenItIsSafe() {
    IsoldeConfig config = IsoldeYaml.parse("");
    assertThat(config.oracle().members()).isEmpty();
    assertThat(config.oracle().port()).isEqualTo(7311);
    assertThat(config.oracle().directory()).isEqualTo("isolde-oracle");
    assertThat(config.oracle().isLogSynced()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "oracle_members: 10.0.0.1, fd00::2,  node-3.example",
        "oracle_members: [10.0.0.1, 'fd00::2', node-3.example]",
        "oracle_members:\n  - 10.0.0.1\n  - fd00::2\n  - node-3.example\n"
      })
  void whenMembersAreGivenAsTextOrListThenTheyAreTheSame(String yaml) {
    assertThat(IsoldeYaml.parse(yaml).oracle().members())
        .containsExactly("10.0.0.1", "fd00::2", "node-3.example");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          version_store_size: 1KiB           | version_store_size must be at least 1MiB
          version_store_size: much           | version_store_size must be a size like 64MiB, not 'much'
          version_retention: 30              | version_retention must be a duration like 30s, not '30'
          max_open_transactions: 0           | max_open_transactions must be at least 1
          max_open_transactions: many        | max_open_transactions must be a whole number, not 'many'
          transaction_max_idle: 10m          | transaction_max_idle must not be longer than transaction_max_age
          transaction_max_reads: 0           | transaction_max_reads must be at least 1
          commit_timeout: 1ms                | commit_timeout must be at least 100ms
          oracle_max_rows: 1                 | oracle_max_rows must be at least 1024
          oracle: replicated                 | There is no setting named oracle; correct or remove its line.
          oracle_members: ','                | oracle_members must be a list like a, b, c, not ','
          oracle_members: [a, b, a]          | oracle_members must not name a node twice
          oracle_members: 10.0.0.1 10.0.0.2  | oracle_members must be addresses
          oracle_port: 0                     | oracle_port must be a TCP port
          oracle_port: 65536                 | oracle_port must be a TCP port
          oracle_port: raft                  | oracle_port must be a whole number, not 'raft'
          oracle_directory: ''               | oracle_directory must name a directory
          oracle_log_sync: never             | oracle_log_sync must be either always or os, not 'never'
          coordinator_lease: 100ms           | coordinator_lease must be at least 500ms
          coordinator_lease: 2               | coordinator_lease must be a duration like 30s, not '2'
          oracle_timeout: 10ms               | oracle_timeout must be at least 100ms
          strong_port: 7310                  | strong_port and the next must not be the oracle_port
          strong_timeout: 10ms               | strong_timeout must be at least 100ms
          strong_log_size: 10KiB             | strong_log_size must be at least 1MiB
          strong_reads: never                | strong_reads must be either lease or read_index, not 'never'
          oracle_timeout: soon               | oracle_timeout must be a duration like 30s, not 'soon'
          conflict_log_size: 0               | conflict_log_size must be between 1 and 1000000
          conflict_log_size: 1000001         | conflict_log_size must be between 1 and 1000000
          staleness_sample_one_in: 100       | staleness_sample_one_in must be a power of two, or 0 for none
          staleness_half_life: 5ms           | staleness_half_life must be at least 1s
          staleness_max_tables: 0            | staleness_max_tables must be between 1 and 10000
          version_store: 64MiB               | There is no setting named version_store; correct or remove its line.
          just words                         | The file must consist of lines like
          '[unclosed'                        | The file is not YAML
          """)
  void whenASettingIsRefusedThenASentenceSaysWhichAndWhy(String yaml, String sentence) {
    assertThatThrownBy(() -> IsoldeYaml.parse(yaml))
        .isInstanceOf(IsoldeConfig.ConfigurationException.class)
        .hasMessageStartingWith("isolde.yaml: ")
        .hasMessageContaining(sentence);
  }

  @Test
  void whenTheDefaultsAreDocumentedThenTheyAreTrueAndComplete() throws IOException {
    String documented = Files.readString(Path.of("../conf/isolde.yaml"));
    // A line that is a setting behind "# ", with its default if there is one, and nothing else.
    String settings = documented.replaceAll("(?m)^# (\\w+:( \\S+)?)$", "$1");
    HeapBudget heap = new HeapBudget(2L << 30); // With less, some defaults are lower.
    IsoldeConfig config = IsoldeYaml.parse(settings, heap);
    IsoldeConfig byDefault = IsoldeYaml.parse("version_store_size: 64MiB", heap);
    assertThat(config).isEqualTo(byDefault);
    long count = settings.lines().filter(line -> line.matches(SETTING)).count();
    // The rules of leadership are one component; the first of them and whether they count are one.
    int ofLeadership = HandOverPolicy.Rules.class.getRecordComponents().length - 1;
    assertThat(count).isEqualTo(components() - 1 + ofLeadership);
    String operating = Files.readString(Path.of("../docs/operating.md"));
    settings
        .lines()
        .filter(line -> line.matches(SETTING))
        .forEach(
            line ->
                assertThat(operating).contains("`" + line.substring(0, line.indexOf(":")) + "`"));
  }

  private static int components() {
    return Stream.of(IsoldeConfig.class.getRecordComponents())
        .mapToInt(part -> part.getType().getRecordComponents().length)
        .sum();
  }

  @Test
  void whenAFileIsNamedThenItIsReadByPathOrUri(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("isolde.yaml"), "transaction_max_reads: 5\n");
    assertThat(IsoldeYaml.load(file.toString()).transactions().maxReads()).isEqualTo(5);
    assertThat(IsoldeYaml.load(file.toUri().toString()).transactions().maxReads()).isEqualTo(5);
    assertThatThrownBy(() -> IsoldeYaml.load(folder.resolve("none").toString()))
        .hasMessageContaining("cannot be read");
  }
}
