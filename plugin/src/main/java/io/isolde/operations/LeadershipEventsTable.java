// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.replication.LeadershipEvents;
import java.time.Instant;
import java.util.Date;
import org.apache.cassandra.db.marshal.BooleanType;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.TimestampType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.virtual.SimpleDataSet;

/** {@code isolde.leadership_events}: what this node has decided about who leads. */
final class LeadershipEventsTable extends NodeTable {
  private final LeadershipEvents events;

  LeadershipEventsTable(LeadershipEvents events) {
    super(
        table(
                "leadership_events",
                "decisions of leaders before heavy work",
                "number",
                LongType.instance)
            .addRegularColumn("at", TimestampType.instance)
            .addRegularColumn("keyspace_name", UTF8Type.instance)
            .addRegularColumn("group_number", Int32Type.instance)
            .addRegularColumn("cause", UTF8Type.instance)
            .addRegularColumn("table_name", UTF8Type.instance)
            .addRegularColumn("work_bytes", LongType.instance)
            .addRegularColumn("decision", UTF8Type.instance)
            .addRegularColumn("transfer_target", UTF8Type.instance)
            .addRegularColumn("failed", BooleanType.instance)
            .addRegularColumn("took_micros", LongType.instance));
    this.events = events;
  }

  @Override
  @SuppressWarnings("JavaUtilDate") // that is how Cassandra wants it
  void fill(SimpleDataSet rows) {
    for (LeadershipEvents.Event event : events.all()) {
      rows.row(event.number())
          .column("at", Date.from(Instant.ofEpochMilli(event.atMillis())))
          .column("keyspace_name", event.keyspace())
          .column("group_number", event.group())
          .column("cause", event.cause().name())
          .column("table_name", event.table())
          .column("work_bytes", event.workBytes())
          .column("decision", event.reason().name())
          .column("transfer_target", event.transferTarget())
          .column("failed", event.hasFailed())
          .column("took_micros", event.tookMicros());
    }
  }
}
