// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.strong;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.bench.charts.Bars;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Reports;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RoutingBenchmarkTest {
  @Test
  void whenItWasMeasuredThenLeadersStandBesideAnyNode() {
    List<Bars> figures =
        RoutingBenchmark.figures(
            Reports.of(
                List.of(
                    new Report.Result("any_node_read", 10, 4, 1, 1, 0),
                    new Report.Result("routed_read", 20, 2, 1, 1, 0),
                    new Report.Result("any_node_write", 30, 6, 1, 1, 0),
                    new Report.Result("routed_write", 40, 5, 1, 1, 0)),
                Map.of()));

    assertThat(figures)
        .extracting(Bars::file)
        .containsExactly("routing-throughput", "routing-latency");
    assertThat(figures.get(0).series())
        .containsEntry("to the leader", Map.of("reads", 20.0, "writes", 40.0))
        .containsEntry("to any node", Map.of("reads", 10.0, "writes", 30.0));
    assertThat(figures.get(1).series())
        .containsEntry("to the leader", Map.of("reads", 2.0, "writes", 5.0));
  }
}
