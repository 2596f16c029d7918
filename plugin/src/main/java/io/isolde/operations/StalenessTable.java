// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.staleness.Estimate;
import io.isolde.staleness.Prediction;
import io.isolde.staleness.VersionPredictor;
import io.isolde.staleness.Visibility;
import io.isolde.staleness.collect.DelayBook;
import io.isolde.staleness.collect.NodePredictor;
import java.util.List;
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
        EstimateColumns.define(
            EstimateColumns.define(
                table("staleness", "how probably reads are fresh", "table_name", UTF8Type.instance)
                    .addClusteringColumn("read_level", UTF8Type.instance)
                    .addClusteringColumn("write_level", UTF8Type.instance)
                    .addClusteringColumn("after_ms", DoubleType.instance)
                    .addRegularColumn("strong", BooleanType.instance)
                    .addRegularColumn("samples", LongType.instance),
                EstimateColumns.STALENESS),
            List.of("read_p50_ms", "read_p99_ms", "write_p50_ms", "write_p99_ms")));
    this.delays = delays;
  }

  @Override
  void fill(SimpleDataSet rows) {
    for (String table : delays.seen().keySet()) {
      NodePredictor.of(delays, table).ifPresent(predictor -> add(rows, table, predictor));
    }
  }

  /** Predicts for the one table only: each costs about a tenth of a second. */
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
              // In the worst case: all versions written at once.
              Visibility within2 = versions.withinVersions(2, 0);
              Visibility within3 = versions.withinVersions(3, 0);
              for (double afterMillis : AFTER_MILLIS) {
                double after = afterMillis / MILLIS;
                rows.row(table, setting.read().name(), setting.write().name(), afterMillis)
                    .column("strong", prediction.isStrong())
                    .column("samples", predictor.observations());
                EstimateColumns.set(rows, "fresh", prediction.freshAfter(after));
                EstimateColumns.set(rows, "within_2_versions", within2.after(after));
                EstimateColumns.set(rows, "within_3_versions", within3.after(after));
                EstimateColumns.set(rows, "monotonic", monotonic(versions, after));
                addTimes(rows, prediction);
              }
            });
  }

  /** Of a client that reads a row again after so long. */
  private static Estimate monotonic(VersionPredictor versions, double afterMicros) {
    return versions.monotonicReads(VersionPredictor.ASSUMED_WRITE_INTERVAL_MICROS, afterMicros);
  }

  private static void addTimes(SimpleDataSet rows, Prediction prediction) {
    setMillis(rows, "fresh_99_after_ms", prediction.visibilityMicros(0.99));
    setMillis(rows, "fresh_999_after_ms", prediction.visibilityMicros(0.999));
    setMillis(rows, "read_p50_ms", prediction.readMicros(0.5));
    setMillis(rows, "read_p99_ms", prediction.readMicros(0.99));
    setMillis(rows, "write_p50_ms", prediction.writeMicros(0.5));
    setMillis(rows, "write_p99_ms", prediction.writeMicros(0.99));
  }

  private static void setMillis(SimpleDataSet rows, String name, Estimate micros) {
    EstimateColumns.set(rows, name, micros.times(MILLIS));
  }
}
