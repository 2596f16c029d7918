// SPDX-License-Identifier: Apache-2.0
package io.isolde.statement;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Set;
import org.apache.cassandra.cql3.BatchQueryOptions;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.ResultSet;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.cql3.statements.CQL3CasRequest;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.db.rows.RowIterator;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.utils.Pair;

/** What Cassandra keeps to itself of statements with IF. */
public final class CassandraConditions {
  private static final Method OF_STATEMENT =
      method(ModificationStatement.class, "makeCasRequest", QueryState.class, QueryOptions.class);
  private static final Method OF_BATCH =
      method(BatchStatement.class, "makeCasRequest", BatchQueryOptions.class, QueryState.class);
  private static final Method RESULT =
      method(
          ModificationStatement.class,
          "buildCasResultSet",
          String.class,
          String.class,
          RowIterator.class,
          Iterable.class,
          boolean.class,
          QueryState.class,
          QueryOptions.class);

  private CassandraConditions() {}

  /**
   * Conditions, and what is written if they hold.
   *
   * @param columns that the answer shows if they don't; null for all
   */
  public record Conditional(
      CQL3CasRequest request, Iterable<ColumnMetadata> columns, boolean isBatch) {}

  private static Method method(Class<?> owner, String name, Class<?>... parameters) {
    try {
      Method method = owner.getDeclaredMethod(name, parameters);
      method.setAccessible(true);
      return method;
    } catch (NoSuchMethodException e) {
      throw new IllegalStateException("This is not the Cassandra that Isolde is made for.", e);
    }
  }

  /** Those of a statement. */
  public static Conditional of(
      ModificationStatement statement, QueryState state, QueryOptions options) {
    CQL3CasRequest request = (CQL3CasRequest) call(OF_STATEMENT, statement, state, options);
    return new Conditional(request, statement.getColumnsWithConditions(), false);
  }

  /** Those of a batch, whose statements all write to one partition. */
  public static Conditional of(BatchStatement batch, QueryState state, BatchQueryOptions options) {
    Pair<?, ?> made = (Pair<?, ?>) call(OF_BATCH, batch, options, state);
    @SuppressWarnings("unchecked") // as the method declares
    Set<ColumnMetadata> columns = (Set<ColumnMetadata>) made.right;
    return new Conditional((CQL3CasRequest) made.left, columns, true);
  }

  /**
   * The answer to the client.
   *
   * @param current what was found instead; null if the conditions hold
   */
  public static ResultSet result(
      Conditional conditional, RowIterator current, QueryState state, QueryOptions options) {
    return (ResultSet)
        call(
            RESULT,
            null,
            conditional.request().metadata.keyspace,
            conditional.request().metadata.name,
            current,
            conditional.columns(),
            conditional.isBatch(),
            state,
            options);
  }

  private static Object call(Method method, Object on, Object... arguments) {
    try {
      return method.invoke(on, arguments);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new IllegalStateException(e.getCause());
    } catch (IllegalAccessException e) {
      throw new AssertionError("made accessible above", e);
    }
  }
}
