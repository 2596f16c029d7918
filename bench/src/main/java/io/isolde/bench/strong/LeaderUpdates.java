// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.strong;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.bench.kit.Workload;
import io.isolde.bench.nodes.RowTable;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletionStage;

/**
 * Writes to rows of a strong keyspace that are there, through the node that leads. It knows which
 * one that is as far as the answers have told.
 */
final class LeaderUpdates implements Workload {
  private static final String HINT = "isolde-leader";

  private final CqlSession session;
  private final RowTable table;

  /** Null: any node. */
  private volatile Node leader;

  LeaderUpdates(CqlSession session, RowTable table) {
    this.session = session;
    this.table = table;
  }

  @Override
  public CompletionStage<?> send() {
    return session
        .executeAsync(table.update(table.anyRow()).setNode(leader))
        .whenComplete(
            (answer, error) -> {
              if (error == null) {
                learnFrom(answer);
              } else {
                leader = null;
              }
            });
  }

  private void learnFrom(AsyncResultSet answer) {
    ByteBuffer hint = answer.getExecutionInfo().getIncomingPayload().get(HINT);
    if (hint != null) {
      leader = node(StandardCharsets.UTF_8.decode(hint.duplicate()).toString());
    } else if (leader == null) {
      leader = answer.getExecutionInfo().getCoordinator();
    }
  }

  private Node node(String address) {
    int colon = address.lastIndexOf(':');
    InetSocketAddress listening =
        new InetSocketAddress(
            address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
    return session.getMetadata().findNode(listening).orElse(null);
  }
}
