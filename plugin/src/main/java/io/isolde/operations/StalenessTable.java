// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.staleness.Estimate;
import io.isolde.staleness.Prediction;
import io.isolde.staleness.VersionPredictor;
import io.isolde.staleness.collect.DelayBook;
import io.isolde.staleness.collect.NodePredictor;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.marshal.BooleanType;
import org.apache.cassandra.db.marshal.DoubleType;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.virtual.SimpleDataSet;

/**
 * {@code isolde.staleness}: how probably reads are fresh, for each table, consistency levels and
 * time after a write. Predicted when somebody looks, from what this node has seen as a coordinator.
 */
final class StalenessTable extends NodeTable {
  private static final double MILLIS = 1e-3;
  private static final double[] AFTER_MILLIS = {0, 1, 5, 10, 50, 100, 500, 1000};

  private final DelayBook delays;

  StalenessTable(DelayBook delays) {
    super(
        table("staleness", "how probably reads are fresh", "table_name", UTF8Type.instance)
            .addClusteringColumn("read_level", UTF8Type.instance)
            .addClusteringColumn("write_level", UTF8Type.instance)
            .addClusteringColumn("after_ms", DoubleType.instance)
            .addRegularColumn("strong", BooleanType.instance)
            .addRegularColumn("fresh", DoubleType.instance)
            .addRegularColumn("fresh_low", DoubleType.instance)
            .addRegularColumn("fresh_high", DoubleType.instance)
            .addRegularColumn("within_2_versions", DoubleType.instance)
            .addRegularColumn("within_3_versions", DoubleType.instance)
            .addRegularColumn("monotonic", DoubleType.instance)
            .addRegularColumn("fresh_99_after_ms", DoubleType.instance)
            .addRegularColumn("fresh_999_after_ms", DoubleType.instance)
            .addRegularColumn("read_p50_ms", DoubleType.instance)
            .addRegularColumn("read_p99_ms", DoubleType.instance)
            .addRegularColumn("write_p50_ms", DoubleType.instance)
            .addRegularColumn("write_p99_ms", DoubleType.instance)
            .addRegularColumn("samples", LongType.instance));
    this.delays = delays;
  }

  @Override
  void fill(SimpleDataSet rows) {
    for (String table : delays.seen().keySet()) {
      NodePredictor.of(delays, table).ifPresent(predictor -> add(rows, table, predictor));
    }
  }

  /** Predicts for the one table only: each costs some tens of milliseconds. */
  @Override
  public DataSet data(DecoratedKey key) {
    SimpleDataSet rows = new SimpleDataSet(metadata());
    String table = UTF8Type.instance.compose(key.getKey());
    NodePredictor.of(delays, table).ifPresent(predictor -> add(rows, table, predictor));
    return rows;
  }

  private static void add(SimpleDataSet rows, String table, NodePredictor predictor) {
    predictor
        .predictions()
        .forEach(
            (setting, prediction) -> {
              VersionPredictor versions = predictor.versions(setting);
              for (double after : AFTER_MILLIS) {
                rows.row(table, setting.read().name(), setting.write().name(), after);
                addFreshness(rows, prediction, versions, after / MILLIS);
                addLatencies(rows, prediction);
                rows.column("samples", predictor.observations());
              }
            });
  }

  private static void addFreshness(
      SimpleDataSet rows, Prediction prediction, VersionPredictor versions, double afterMicros) {
    Estimate fresh = prediction.freshAfter(afterMicros);
    rows.column("strong", prediction.isStrong())
        .column("fresh", fresh.value())
        .column("fresh_low", fresh.low())
        .column("fresh_high", fresh.high())
        .column("within_2_versions", within(2, prediction, versions, afterMicros))
        .column("within_3_versions", within(3, prediction, versions, afterMicros))
        .column("monotonic", monotonic(versions, afterMicros))
        .column("fresh_99_after_ms", prediction.visibilityMicros(0.99).value() * MILLIS)
        .column("fresh_999_after_ms", prediction.visibilityMicros(0.999).value() * MILLIS);
  }

  /** In the worst case: all versions written at once. */
  private static double within(
      int k, Prediction prediction, VersionPredictor versions, double afterMicros) {
    return prediction.isStrong() ? 1 : versions.withinVersions(k, afterMicros, 0).value();
  }

  /** Of a client that reads a row again after so long. */
  private static double monotonic(VersionPredictor versions, double afterMicros) {
    return versions
        .monotonicReads(VersionPredictor.ASSUMED_WRITE_INTERVAL_MICROS, afterMicros)
        .value();
  }

  private static void addLatencies(SimpleDataSet rows, Prediction prediction) {
    rows.column("read_p50_ms", prediction.readMicros(0.5).value() * MILLIS)
        .column("read_p99_ms", prediction.readMicros(0.99).value() * MILLIS)
        .column("write_p50_ms", prediction.writeMicros(0.5).value() * MILLIS)
        .column("write_p99_ms", prediction.writeMicros(0.99).value() * MILLIS);
  }
}
