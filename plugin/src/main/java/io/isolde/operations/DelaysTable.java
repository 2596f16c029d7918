// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.staleness.Place;
import io.isolde.staleness.collect.DelayBook;
import io.isolde.staleness.collect.Leg;
import io.isolde.staleness.collect.MessageTap;
import io.isolde.staleness.collect.SeenLeg;
import java.util.Locale;
import org.apache.cassandra.db.marshal.DoubleType;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.virtual.SimpleDataSet;

/**
 * {@code isolde.staleness_delays}: the one-way delays between this node, as a coordinator, and
 * replicas, by their rack.
 */
final class DelaysTable extends NodeTable {
  private static final double MILLIS = 1e-3;

  private final DelayBook delays;

  DelaysTable(DelayBook delays) {
    super(
        table(
                "staleness_delays",
                "one-way delays between this node and replicas",
                "table_name",
                UTF8Type.instance)
            .addClusteringColumn("datacenter", UTF8Type.instance)
            .addClusteringColumn("rack", UTF8Type.instance)
            .addClusteringColumn("leg", UTF8Type.instance)
            .addRegularColumn("from_datacenter", UTF8Type.instance)
            .addRegularColumn("from_rack", UTF8Type.instance)
            .addRegularColumn("samples", LongType.instance)
            .addRegularColumn("p50_ms", DoubleType.instance)
            .addRegularColumn("p99_ms", DoubleType.instance)
            .addRegularColumn("clock_uncertainty_ms", DoubleType.instance)
            .addRegularColumn("histogram", UTF8Type.instance));
    this.delays = delays;
  }

  @Override
  void fill(SimpleDataSet rows) {
    Place self = MessageTap.self();
    delays
        .seen()
        .forEach(
            (table, places) ->
                places.forEach(
                    (place, legs) ->
                        legs.forEach((leg, seen) -> add(rows, table, self, place, leg, seen))));
  }

  private static void add(
      SimpleDataSet rows, String table, Place self, Place place, Leg leg, SeenLeg seen) {
    rows.row(table, place.datacenter(), place.rack(), leg.name().toLowerCase(Locale.ROOT))
        .column("from_datacenter", self.datacenter())
        .column("from_rack", self.rack())
        .column("samples", seen.observations())
        .column("p50_ms", seen.p50Micros() * MILLIS)
        .column("p99_ms", seen.p99Micros() * MILLIS)
        .column("clock_uncertainty_ms", seen.uncertaintyMicros() * MILLIS)
        .column("histogram", seen.histogram());
  }
}
