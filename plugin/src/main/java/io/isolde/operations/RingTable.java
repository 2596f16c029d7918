// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.oracle.configuration.Configuration;
import io.isolde.oracle.configuration.ConfiguredNode;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.marshal.UUIDType;
import org.apache.cassandra.db.virtual.SimpleDataSet;

/** {@code isolde.ring}: the nodes of the configuration; the same on all nodes. */
final class RingTable extends NodeTable {
  private final ConfigurationLook look;

  RingTable(ConfigurationLook look) {
    super(
        table("ring", "the nodes, as the oracle has them", "host_id", UUIDType.instance)
            .addRegularColumn("address", UTF8Type.instance)
            .addRegularColumn("cql_address", UTF8Type.instance)
            .addRegularColumn("datacenter", UTF8Type.instance)
            .addRegularColumn("rack", UTF8Type.instance)
            .addRegularColumn("state", UTF8Type.instance)
            .addRegularColumn("version", LongType.instance)
            .addRegularColumn("configuration_version", LongType.instance));
    this.look = look;
  }

  @Override
  void fill(SimpleDataSet rows) {
    Configuration now = look.now();
    for (ConfiguredNode node : now.nodes()) {
      rows.row(node.info().host())
          .column("address", node.info().address())
          .column("cql_address", node.info().cqlAddress())
          .column("datacenter", node.info().datacenter())
          .column("rack", node.info().rack())
          .column("state", node.isUp() ? "UP" : "DOWN")
          .column("version", node.version())
          .column("configuration_version", now.version());
    }
  }
}
