// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.oracle.group.OracleStatus;
import io.isolde.raft.Peer;
import io.isolde.replicated.OracleHost;
import java.util.Locale;
import org.apache.cassandra.db.marshal.BooleanType;
import org.apache.cassandra.db.marshal.DoubleType;
import org.apache.cassandra.db.marshal.ListType;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.virtual.SimpleDataSet;
import org.apache.cassandra.utils.FBUtilities;

/** {@code isolde.oracle}: the oracle as this node sees it, in one row. */
final class OracleTable extends NodeTable {
  private final OracleWatch watch;

  OracleTable(OracleWatch watch) {
    super(
        table("oracle", "the oracle as this node sees it", "node", UTF8Type.instance)
            .addRegularColumn("member", BooleanType.instance)
            .addRegularColumn("problem", UTF8Type.instance)
            .addRegularColumn("answered_by", UTF8Type.instance)
            .addRegularColumn("leader", UTF8Type.instance)
            .addRegularColumn("members", ListType.getInstance(UTF8Type.instance, false))
            .addRegularColumn("term", LongType.instance)
            .addRegularColumn("applied_index", LongType.instance)
            .addRegularColumn("entries_behind", LongType.instance)
            .addRegularColumn("stable", LongType.instance)
            .addRegularColumn("stable_lag_ms", LongType.instance)
            .addRegularColumn("last", LongType.instance)
            .addRegularColumn("low_watermark", LongType.instance)
            .addRegularColumn("pending_commits", LongType.instance)
            .addRegularColumn("in_doubt_commits", LongType.instance)
            .addRegularColumn("committed", LongType.instance)
            .addRegularColumn("aborted", LongType.instance)
            .addRegularColumn("forgotten", LongType.instance)
            .addRegularColumn("commits_per_second", DoubleType.instance)
            .addRegularColumn("log_entries", LongType.instance)
            .addRegularColumn("commands", LongType.instance)
            .addRegularColumn("commands_per_entry", DoubleType.instance)
            .addRegularColumn("starts", LongType.instance)
            .addRegularColumn("start_batches", LongType.instance)
            .addRegularColumn("starts_per_batch", DoubleType.instance)
            .addRegularColumn("queued", LongType.instance)
            .addRegularColumn("outstanding", LongType.instance)
            .addRegularColumn("overloads", LongType.instance)
            .addRegularColumn("session_open", BooleanType.instance)
            .addRegularColumn("fenced", LongType.instance));
    this.watch = watch;
  }

  @Override
  void fill(SimpleDataSet rows) {
    rows.row(FBUtilities.getBroadcastAddressAndPort().getHostAddress(false))
        .column("member", false);
    watch.look().ifPresent(look -> fill(rows, look));
  }

  private static void fill(SimpleDataSet row, OracleWatch.Look look) {
    OracleHost host = look.host();
    row.column("member", look.isMember())
        .column("problem", host.node().problem().orElse(null))
        .column("answered_by", look.source().name().toLowerCase(Locale.ROOT))
        .column("stable", look.stable())
        .column("stable_lag_ms", look.stableLagMillis())
        .column("last", look.last())
        .column("low_watermark", look.lowWatermark())
        .column("outstanding", (long) host.client().outstanding())
        .column("session_open", host.session().isOpen())
        .column("fenced", host.session().fencings());
    look.entriesBehind().ifPresent(entries -> row.column("entries_behind", entries));
    look.commitsPerSecond().ifPresent(rate -> row.column("commits_per_second", rate));
    look.figures().ifPresent(status -> fill(row, status));
  }

  private static void fill(SimpleDataSet row, OracleStatus status) {
    row.column("leader", status.leader().map(Peer::id).orElse(null))
        .column("members", status.members().stream().map(Peer::id).sorted().toList())
        .column("term", status.term())
        .column("applied_index", status.appliedIndex())
        .column("pending_commits", status.pendingCommits())
        .column("in_doubt_commits", status.inDoubtCommits())
        .column("committed", status.committed())
        .column("aborted", status.aborted())
        .column("forgotten", status.abortedForgotten())
        .column("log_entries", status.entries())
        .column("commands", status.commands())
        .column("commands_per_entry", average(status.commands(), status.entries()))
        .column("starts", status.starts())
        .column("start_batches", status.beginBatches())
        .column("starts_per_batch", average(status.starts(), status.beginBatches()))
        .column("queued", status.queued())
        .column("overloads", status.overloads());
  }

  private static Double average(long sum, long count) {
    return count == 0 ? null : (double) sum / count;
  }
}
