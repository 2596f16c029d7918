// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.bench.kit.BenchOptions;
import io.isolde.cluster.ToolException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchesTest {

  @TempDir private Path folder;
  private final PrintWriter out = new PrintWriter(new StringWriter());

  @Test
  void whenABenchmarkIsUnknownThenTheErrorListsAllThatThereAre() {
    assertThatThrownBy(() -> Benches.run("speed", null, null, BenchOptions.DEFAULTS, out))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("\"speed\"")
        .hasMessageContaining("versions");
  }

  @Test
  void whenTheReportCouldNotBeWrittenThenNothingIsMeasured() {
    Path nowhere = folder.resolve("missing").resolve("report.json");
    assertThatThrownBy(() -> Benches.run("versions", nowhere, null, BenchOptions.DEFAULTS, out))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining(nowhere.toString());
  }

  @Test
  void whenNamesAreListedThenEachHasASummary() {
    assertThat(Benches.names())
        .contains("versions", "oracle", "oracle-wire", "oracle-curves", "failover")
        .doesNotHaveDuplicates();
    assertThat(Benches.names())
        .allSatisfy(name -> assertThat(Benches.named(name).summary()).isNotBlank());
  }
}
