// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.replication.FollowerStaleness;
import io.isolde.replication.StrongKeyspaces;
import java.util.List;
import org.apache.cassandra.db.marshal.DoubleType;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.virtual.SimpleDataSet;

/**
 * {@code isolde.follower_staleness}: how probably reads at {@code ONE} of strong keyspaces are
 * fresh, or monotonic, for the groups that this node leads, as it measures it.
 */
final class FollowerStalenessTable extends NodeTable {
  private static final List<Double> AFTER_MILLIS =
      List.of(0.0, 1.0, 5.0, 10.0, 50.0, 100.0, 1000.0);

  private final StrongKeyspaces keyspaces;

  FollowerStalenessTable(StrongKeyspaces keyspaces) {
    super(
        EstimateColumns.define(
                table(
                        "follower_staleness",
                        "how probably reads at ONE of strong keyspaces are fresh, of groups led here",
                        "keyspace_name",
                        UTF8Type.instance)
                    .addClusteringColumn("group_number", Int32Type.instance)
                    .addClusteringColumn("after_ms", DoubleType.instance),
                EstimateColumns.STALENESS)
            .addRegularColumn("followers", Int32Type.instance)
            .addRegularColumn("samples", LongType.instance));
    this.keyspaces = keyspaces;
  }

  @Override
  void fill(SimpleDataSet rows) {
    for (StrongKeyspaces.Shown shown : keyspaces.show()) {
      if (shown.replica().isPresent() && shown.replica().get().isLeader()) {
        keyspaces
            .followers()
            .of(shown.target().group(), AFTER_MILLIS)
            .ifPresent(freshness -> add(rows, shown, freshness));
      }
    }
  }

  private static void add(
      SimpleDataSet rows, StrongKeyspaces.Shown shown, FollowerStaleness.Freshness freshness) {
    for (FollowerStaleness.Moment moment : freshness.moments()) {
      rows.row(shown.keyspace(), shown.group().number(), moment.afterMillis())
          .column("followers", freshness.followers())
          .column("samples", freshness.observations());
      EstimateColumns.set(rows, "fresh", moment.fresh());
      EstimateColumns.set(rows, "within_2_versions", moment.within2());
      EstimateColumns.set(rows, "within_3_versions", moment.within3());
      EstimateColumns.set(rows, "monotonic", moment.monotonic());
      EstimateColumns.set(rows, "fresh_99_after_ms", freshness.fresh99AfterMillis());
      EstimateColumns.set(rows, "fresh_999_after_ms", freshness.fresh999AfterMillis());
    }
  }
}
