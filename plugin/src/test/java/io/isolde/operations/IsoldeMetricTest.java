// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class IsoldeMetricTest {
  @Test
  void whenThereIsAMetricThenOperatorsAreToldOfIt() throws IOException {
    String operating = Files.readString(Path.of("../docs/operating.md"));
    for (IsoldeMetric metric : IsoldeMetric.values()) {
      assertThat(operating)
          .contains("`" + metric.type() + "`")
          .contains("`" + metric.title() + "`");
    }
  }

  @Test
  void whenMetricsHaveNamesThenTheyDiffer() {
    assertThat(Arrays.stream(IsoldeMetric.values()).map(m -> m.type() + "." + m.title()))
        .doesNotHaveDuplicates();
  }
}
