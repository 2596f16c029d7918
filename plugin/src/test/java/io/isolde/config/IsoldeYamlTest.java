// SPDX-License-Identifier: Apache-2.0
package io.isolde.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class IsoldeYamlTest {
  @Test
  void whenNothingIsSetThenTheDefaultsCount() {
    IsoldeConfig config = IsoldeYaml.parse("# nothing\n");
    assertThat(config.versionRetentionMicros()).isEqualTo(30_000_000);
    assertThat(config.versionStoreBytes()).isGreaterThanOrEqualTo(64 << 20);
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
    assertThat(config.versionStoreBytes()).isEqualTo(128 << 20);
    assertThat(config.versionRetentionMicros()).isEqualTo(120_000_000);
    assertThat(config.maxIdleMillis()).isEqualTo(1500);
    assertThat(config.maxOpenTransactions()).isEqualTo(7);
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
          version_store: 64MiB               | There is no setting named version_store
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
    // A line that is a setting behind "# ", and nothing else.
    String settings = documented.replaceAll("(?m)^# (\\w+: \\S+)$", "$1");
    IsoldeConfig config = IsoldeYaml.parse(settings);
    IsoldeConfig byDefault = IsoldeYaml.parse("version_store_size: 64MiB");
    assertThat(config).isEqualTo(byDefault);
    long count = settings.lines().filter(line -> line.matches("\\w+: \\S+")).count();
    assertThat(count).isEqualTo(IsoldeConfig.class.getRecordComponents().length);
    String operating = Files.readString(Path.of("../docs/operating.md"));
    settings
        .lines()
        .filter(line -> line.matches("\\w+: \\S+"))
        .forEach(
            line ->
                assertThat(operating).contains("`" + line.substring(0, line.indexOf(":")) + "`"));
  }

  @Test
  void whenAFileIsNamedThenItIsReadByPathOrUri(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("isolde.yaml"), "transaction_max_reads: 5\n");
    assertThat(IsoldeYaml.load(file.toString()).maxReads()).isEqualTo(5);
    assertThat(IsoldeYaml.load(file.toUri().toString()).maxReads()).isEqualTo(5);
    assertThatThrownBy(() -> IsoldeYaml.load(folder.resolve("none").toString()))
        .hasMessageContaining("cannot be read");
  }
}
