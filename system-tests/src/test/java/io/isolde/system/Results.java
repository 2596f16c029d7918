// SPDX-License-Identifier: Apache-2.0
package io.isolde.system;

import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Results as text, for comparison and for people. */
public final class Results {
  private Results() {}

  /** Returns one line per row of all pages, in their order: the values, separated by spaces. */
  public static List<String> lines(ResultSet result) {
    List<String> lines = new ArrayList<>();
    for (Row row : result) {
      lines.add(line(row));
    }
    return lines;
  }

  private static String line(Row row) {
    return row.getColumnDefinitions().size() == 1
        ? String.valueOf(row.getObject(0))
        : IntStream.range(0, row.getColumnDefinitions().size())
            .mapToObj(i -> String.valueOf(row.getObject(i)))
            .collect(Collectors.joining(" "));
  }
}
