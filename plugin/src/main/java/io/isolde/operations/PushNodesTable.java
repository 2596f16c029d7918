// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.push.PushNode;
import org.apache.cassandra.db.marshal.BooleanType;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.virtual.SimpleDataSet;

/** {@code isolde.push_nodes}: where changes are pushed, and to how many watchers. */
final class PushNodesTable extends NodeTable {
  private final NodeParts parts;

  PushNodesTable(NodeParts parts) {
    super(
        table("push_nodes", "nodes that push changes to clients", "node", UTF8Type.instance)
            .addRegularColumn("address", UTF8Type.instance)
            .addRegularColumn("datacenter", UTF8Type.instance)
            .addRegularColumn("tls", BooleanType.instance)
            .addRegularColumn("watchers", Int32Type.instance)
            .addRegularColumn("age_ms", LongType.instance));
    this.parts = parts;
  }

  @Override
  void fill(SimpleDataSet rows) {
    for (PushNode.Known known : parts.push().nodes()) {
      rows.row(known.node())
          .column("address", known.address())
          .column("datacenter", known.datacenter())
          .column("tls", known.isTls())
          .column("watchers", known.watchers())
          .column("age_ms", known.ageMillis());
    }
  }
}
