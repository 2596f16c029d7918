// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import com.google.common.collect.Interner;
import com.google.common.collect.Interners;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.notification.ClientMessage;
import io.isolde.oracle.group.Changes;
import io.isolde.push.PushedStatements;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
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

  /** Of the watches that there are. */
  private final Interner<Subject> subjects = Interners.newWeakInterner();

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
    Subject subject =
        new Subject(select.table.id, new WatchScope(Set.copyOf(scope.ids()), scope.group()));
    return new Watched(select.table, subjects.intern(subject));
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

  /** What a watch is of. Many clients watch the same, and share it. */
  private static final class Subject {
    private final TableId table;
    private final WatchScope scope;
    private final int hash;

    private Subject(TableId table, WatchScope scope) {
      this.table = table;
      this.scope = scope;
      this.hash = Objects.hash(table, scope);
    }

    @Override
    public int hashCode() {
      return hash;
    }

    @Override
    public boolean equals(Object other) {
      return other == this
          || (other instanceof Subject that
              && that.hash == hash
              && that.table.equals(table)
              && that.scope.equals(scope));
    }
  }

  /** What is kept of a statement: some bytes beside the subject. */
  private final class Watched implements Question {
    private final Subject subject;
    private final boolean hasStatics;

    private Watched(TableMetadata table, Subject subject) {
      this.subject = subject;
      this.hasStatics = table.hasStaticColumns();
    }

    private TableMetadata table() {
      TableMetadata table = Schema.instance.getTableMetadata(subject.table);
      if (table == null) {
        throw IsoldeException.of(ErrorCode.NOT_TRANSACTIONAL, "The table was dropped.");
      }
      return table;
    }

    @Override
    public Object subject() {
      return subject;
    }

    /** The permission is looked up in Cassandra's cache. */
    @Override
    public void requireAllowed(ClientState client) {
      TableMetadata table = table();
      if (!hasStatics && table.hasStaticColumns()) {
        throw new IllegalStateException(
            "The table has static columns now, which belong to its rows. Subscribe again.");
      }
      client.ensureTablePermission(table, Permission.SELECT);
    }

    @Override
    public CompletableFuture<Changes.Notification> ask(OptionalLong after, long waitMillis) {
      return sources.ask(table(), subject.scope, after, waitMillis);
    }
  }
}
