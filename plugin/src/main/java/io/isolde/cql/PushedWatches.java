// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.notification.ClientMessage;
import io.isolde.oracle.group.Changes;
import io.isolde.push.PushedStatements;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.cassandra.auth.Permission;
import org.apache.cassandra.cql3.ColumnSpecification;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;

/** {@code SELECT CHANGES FROM …} as clients of the port for pushing subscribe to it. */
final class PushedWatches implements PushedStatements {
  private final ChangeSources sources;

  PushedWatches(ChangeSources sources) {
    this.sources = sources;
  }

  @Override
  public Question prepare(ClientMessage subscription, ClientState client) {
    ControlStatement.Watch watch =
        WatchStatements.prepare(subscription.statement() + " AFTER NOW", client);
    SelectStatement select = watch.select();
    select.authorize(client);
    select.validate(client);
    QueryOptions options =
        QueryOptions.forInternalCalls(
            ConsistencyLevel.ONE, values(subscription, select.getBindVariables()));
    WatchScope scope = WatchScope.of(select, options, sources.groups());
    return new Watched(select.table, new WatchScope(Set.copyOf(scope.ids()), scope.group()));
  }

  private static List<ByteBuffer> values(
      ClientMessage subscription, List<ColumnSpecification> variables) {
    int count =
        subscription.bytes() != null
            ? subscription.bytes().size()
            : subscription.values() != null ? subscription.values().size() : 0;
    if (count != variables.size()) {
      throw IsoldeException.invalid(
          "The statement has " + variables.size() + " question marks, and " + count + " values.");
    }
    List<ByteBuffer> values = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      values.add(
          subscription.bytes() != null
              ? decoded(subscription.bytes().get(i))
              : encoded(subscription.values().get(i), variables.get(i)));
    }
    return values;
  }

  private static ByteBuffer decoded(String base64) {
    try {
      return base64 == null ? null : ByteBuffer.wrap(Base64.getDecoder().decode(base64));
    } catch (IllegalArgumentException e) {
      throw IsoldeException.invalid("The bytes of a value are not Base64.");
    }
  }

  /** As INSERT JSON does it. */
  private static ByteBuffer encoded(Object value, ColumnSpecification variable) {
    return value == null
        ? null
        : variable.type.fromJSONObject(value).bindAndGet(QueryOptions.DEFAULT);
  }

  /** What is kept of a statement: some hundred bytes. */
  private final class Watched implements Question {
    private final TableId id;
    private final boolean hasStatics;
    private final WatchScope scope;

    private Watched(TableMetadata table, WatchScope scope) {
      this.id = table.id;
      this.hasStatics = table.hasStaticColumns();
      this.scope = scope;
    }

    /** The permission is looked up each time, in Cassandra's cache. */
    @Override
    public CompletableFuture<Changes.Notification> ask(
        ClientState client, OptionalLong after, long waitMillis) {
      TableMetadata table = Schema.instance.getTableMetadata(id);
      if (table == null) {
        throw IsoldeException.of(ErrorCode.NOT_TRANSACTIONAL, "The table was dropped.");
      }
      if (!hasStatics && table.hasStaticColumns()) {
        throw new IllegalStateException(
            "The table has static columns now, which belong to its rows. Subscribe again.");
      }
      client.ensureTablePermission(table, Permission.SELECT);
      return sources.ask(table, scope, after, waitMillis);
    }
  }
}
