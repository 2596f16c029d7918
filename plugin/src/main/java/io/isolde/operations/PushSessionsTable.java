// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.config.NodeClock;
import io.isolde.push.PushNode;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.virtual.SimpleDataSet;

/** {@code isolde.push_sessions}: the clients to which this node pushes changes. */
final class PushSessionsTable extends NodeTable {
  private final NodeParts parts;

  PushSessionsTable(NodeParts parts) {
    super(
        table("push_sessions", "clients to which changes are pushed", "session", Int32Type.instance)
            .addRegularColumn("client", UTF8Type.instance)
            .addRegularColumn("user", UTF8Type.instance)
            .addRegularColumn("subscriptions", Int32Type.instance)
            .addRegularColumn("position_lag_ms", LongType.instance)
            .addRegularColumn("queued_bytes", LongType.instance));
    this.parts = parts;
  }

  @Override
  void fill(SimpleDataSet rows) {
    long nowMicros = 1_000 * NodeClock.nowMillis();
    for (PushNode.Session session : parts.push().sessions()) {
      rows.row(session.number())
          .column("client", session.client())
          .column("user", session.user())
          .column("subscriptions", session.subscriptions())
          .column("queued_bytes", session.queuedBytes());
      if (session.position() >= 0) {
        rows.column("position_lag_ms", Math.max(0, (nowMicros - session.position()) / 1_000));
      }
    }
  }
}
