// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.cql.Row;
import java.lang.reflect.Proxy;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is said of two groups, each at two times. */
class StrongStalenessTest {

  private static Row row(int group, double afterMillis) {
    return (Row)
        Proxy.newProxyInstance(
            Row.class.getClassLoader(),
            new Class<?>[] {Row.class},
            (row, method, arguments) ->
                switch (method.getName()) {
                  case "getInt" -> arguments[0].equals("followers") ? 2 : group;
                  case "getLong" -> 1_000L;
                  case "getDouble" -> number((String) arguments[0], afterMillis);
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  private static double number(String column, double afterMillis) {
    if (column.equals("after_ms")) {
      return afterMillis;
    }
    double value = column.contains("_after_ms") ? 0.02 : 0.98 + afterMillis / 1e5;
    return column.endsWith("_low") ? value - 0.01 : column.endsWith("_high") ? value + 0.01 : value;
  }

  @Test
  void whenGroupsWereMeasuredThenEachHasItsProbabilitiesByTimeAndItsTimes() {
    List<String> lines =
        StrongStaleness.lines("bank", List.of(row(1, 0), row(0, 1000), row(0, 0), row(1, 1000)));

    assertThat(lines)
        .hasSize(12)
        .contains(
            "0      0.000     98.000 [97.000, 99.000]   98.000 [97.000, 99.000]"
                + "   98.000 [97.000, 99.000]   98.000 [97.000, 99.000]",
            "1      0.02 [0.01, 0.03]           0.02 [0.01, 0.03]           2          1000");
    assertThat(lines.get(4)).startsWith("0      1000      99.000");
    assertThat(lines.get(5)).startsWith("1      0.000");
  }

  @Test
  void whenNoFollowerWasAskedThenASentenceSaysWhatIsMissing() {
    assertThat(StrongStaleness.lines("bank", List.of()))
        .singleElement()
        .asString()
        .contains("needs some writes");
  }
}
