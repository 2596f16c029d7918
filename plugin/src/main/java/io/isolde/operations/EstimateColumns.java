// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.staleness.Estimate;
import java.util.List;
import org.apache.cassandra.db.marshal.DoubleType;
import org.apache.cassandra.db.virtual.SimpleDataSet;
import org.apache.cassandra.schema.TableMetadata;

/** Columns that come in threes: a number, and where it lies with 95% certainty. */
final class EstimateColumns {
  static final List<String> STALENESS =
      List.of(
          "fresh",
          "within_2_versions",
          "within_3_versions",
          "monotonic",
          "fresh_99_after_ms",
          "fresh_999_after_ms");

  private static final String LOW = "_low";
  private static final String HIGH = "_high";

  private EstimateColumns() {}

  static TableMetadata.Builder define(TableMetadata.Builder table, List<String> names) {
    for (String name : names) {
      table
          .addRegularColumn(name, DoubleType.instance)
          .addRegularColumn(name + LOW, DoubleType.instance)
          .addRegularColumn(name + HIGH, DoubleType.instance);
    }
    return table;
  }

  static void set(SimpleDataSet rows, String name, Estimate estimate) {
    rows.column(name, estimate.value())
        .column(name + LOW, estimate.low())
        .column(name + HIGH, estimate.high());
  }
}
