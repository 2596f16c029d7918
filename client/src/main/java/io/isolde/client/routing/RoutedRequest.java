// SPDX-License-Identifier: Apache-2.0
package io.isolde.client.routing;

import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverExecutionProfile;
import com.datastax.oss.driver.api.core.context.DriverContext;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.metadata.token.Token;
import com.datastax.oss.driver.api.core.session.Request;
import com.datastax.oss.driver.api.core.session.Session;
import com.datastax.oss.driver.internal.core.metadata.token.Murmur3Token;
import java.util.Optional;
import java.util.Set;

/**
 * A request for one partition, which a leader may be there for.
 *
 * @param token of the partition
 */
record RoutedRequest(String keyspace, long token) {
  private static final String SELECT = "SELECT";
  private static final Set<String> ANY_REPLICA =
      Set.of(DefaultConsistencyLevel.ONE.name(), DefaultConsistencyLevel.LOCAL_ONE.name());

  /**
   * Returns what a request is for. Empty if it does not say so, as a statement that was not
   * prepared; and for a SELECT at ONE or LOCAL_ONE, which any replica answers.
   */
  static Optional<RoutedRequest> of(Request request, Session session, DriverContext context) {
    if (!(request instanceof Statement<?> statement) || statement.getNode() != null) {
      return Optional.empty();
    }
    CqlIdentifier keyspace = keyspaceOf(statement, session);
    Optional<Long> token = token(statement, session);
    if (keyspace == null || token.isEmpty() || isOfAnyReplica(statement, context)) {
      return Optional.empty();
    }
    return Optional.of(new RoutedRequest(keyspace.asInternal(), token.get()));
  }

  private static CqlIdentifier keyspaceOf(Statement<?> statement, Session session) {
    if (statement.getRoutingKeyspace() != null) {
      return statement.getRoutingKeyspace();
    }
    return statement.getKeyspace() != null
        ? statement.getKeyspace()
        : session.getKeyspace().orElse(null);
  }

  private static Optional<Long> token(Statement<?> statement, Session session) {
    Token token = statement.getRoutingToken();
    if (token == null && statement.getRoutingKey() != null) {
      token =
          session
              .getMetadata()
              .getTokenMap()
              .map(map -> map.newToken(statement.getRoutingKey()))
              .orElse(null);
    }
    return token instanceof Murmur3Token murmur3
        ? Optional.of(murmur3.getValue())
        : Optional.empty();
  }

  private static boolean isOfAnyReplica(Statement<?> statement, DriverContext context) {
    String text =
        statement instanceof BoundStatement bound
            ? bound.getPreparedStatement().getQuery()
            : statement instanceof SimpleStatement simple ? simple.getQuery() : "";
    boolean isRead = text.stripLeading().regionMatches(true, 0, SELECT, 0, SELECT.length());
    return isRead && ANY_REPLICA.contains(consistencyOf(statement, context));
  }

  private static String consistencyOf(Statement<?> statement, DriverContext context) {
    if (statement.getConsistencyLevel() != null) {
      return statement.getConsistencyLevel().name();
    }
    DriverExecutionProfile profile = statement.getExecutionProfile();
    if (profile == null) {
      String name = statement.getExecutionProfileName();
      profile =
          name == null
              ? context.getConfig().getDefaultProfile()
              : context.getConfig().getProfile(name);
    }
    return profile.getString(DefaultDriverOption.REQUEST_CONSISTENCY);
  }
}
