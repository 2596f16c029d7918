// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.oracle.group.OracleStatus;
import java.util.Optional;
import java.util.UUID;
import org.apache.cassandra.db.marshal.BooleanType;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.UUIDType;
import org.apache.cassandra.db.virtual.SimpleDataSet;

/** {@code isolde.oracle_sessions}: the coordinators that may decide, as the leader knows them. */
final class SessionsTable extends NodeTable {
  private final NodeParts parts;
  private final OracleWatch watch;

  SessionsTable(NodeParts parts, OracleWatch watch) {
    super(
        table("oracle_sessions", "coordinators that may decide", "session", LongType.instance)
            .addRegularColumn("coordinator", UUIDType.instance)
            .addRegularColumn("this_node", BooleanType.instance)
            .addRegularColumn("silent_ms", LongType.instance));
    this.parts = parts;
    this.watch = watch;
  }

  @Override
  void fill(SimpleDataSet rows) {
    Optional<UUID> self = parts.oracleHost().map(host -> host.session().coordinator());
    Optional<OracleStatus> status =
        watch.leaders().or(() -> watch.look().flatMap(OracleWatch.Look::figures));
    if (status.isEmpty()) {
      return;
    }
    for (OracleStatus.Session session : status.get().sessions()) {
      rows.row(session.number())
          .column("coordinator", session.coordinator())
          .column("this_node", self.filter(session.coordinator()::equals).isPresent());
      if (session.silentMillis() >= 0) {
        rows.column("silent_ms", session.silentMillis());
      }
    }
  }
}
