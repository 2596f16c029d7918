// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import io.isolde.read.SnapshotSelect;
import io.isolde.testing.CassandraInProcess;
import java.util.ArrayList;
import java.util.List;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.UntypedResultSet;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.PartitionRangeReadCommand;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.transport.ProtocolVersion;

/** Reads a versioned table as of a timestamp in small pages, as a coordinator asks replicas. */
record AsOfPages(String table, long asOf) {

  UntypedResultSet read(String query, int pageSize) {
    SelectStatement select =
        (SelectStatement) QueryProcessor.parseStatement(query, ClientState.forInternalCalls());
    ReadQuery pages =
        new SnapshotSelect(select, this::asOf)
            .getQuery(QueryOptions.forInternalCalls(List.of()), System.currentTimeMillis() / 1000);
    return UntypedResultSet.create(select, pages.getPager(null, ProtocolVersion.CURRENT), pageSize);
  }

  private VersionIndex versions() {
    return NodeVersions.ofThisNode().of(CassandraInProcess.table(table).metadata.id);
  }

  private ReadQuery asOf(ReadQuery query) {
    if (query instanceof PartitionRangeReadCommand range) {
      return PartitionRangeReadCommand.create(
          range.metadata(),
          range.nowInSec(),
          range.columnFilter(),
          versions().asOf(asOf, range.rowFilter()),
          range.limits(),
          range.dataRange());
    }
    SinglePartitionReadCommand.Group group = (SinglePartitionReadCommand.Group) query;
    List<SinglePartitionReadCommand> commands = new ArrayList<>();
    for (SinglePartitionReadCommand command : group.queries) {
      commands.add(
          SinglePartitionReadCommand.create(
              command.metadata(),
              command.nowInSec(),
              command.columnFilter(),
              versions().asOf(asOf, command.rowFilter()),
              command.limits(),
              command.partitionKey(),
              command.clusteringIndexFilter()));
    }
    return SinglePartitionReadCommand.Group.create(commands, group.limits());
  }
}
