// SPDX-License-Identifier: Apache-2.0
package io.isolde.client.routing;

import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverExecutionProfile;
import com.datastax.oss.driver.api.core.context.DriverContext;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.loadbalancing.NodeDistance;
import com.datastax.oss.driver.api.core.metadata.Metadata;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.metadata.NodeState;
import com.datastax.oss.driver.api.core.metadata.token.Token;
import com.datastax.oss.driver.api.core.session.Request;
import com.datastax.oss.driver.api.core.session.Session;
import com.datastax.oss.driver.internal.core.metadata.token.Murmur3Token;
import com.datastax.oss.driver.internal.core.metadata.token.Murmur3TokenFactory;
import java.util.Optional;
import java.util.Set;

/**
 * A request for one partition, which a leader may be there for.
 *
 * @param token of the partition
 */
record RoutedRequest(String keyspace, long token) {
  /** Without this partitioner there are no strong keyspaces. */
  private static final Murmur3TokenFactory TOKENS = new Murmur3TokenFactory();

  private static final Set<String> ANY_REPLICA =
      Set.of(DefaultConsistencyLevel.ONE.name(), DefaultConsistencyLevel.LOCAL_ONE.name());

  /**
   * Returns what a request is for. Empty if it does not say so, as a statement that was not
   * prepared; if nothing is known of its keyspace; and for a SELECT at ONE or LOCAL_ONE, which any
   * replica answers.
   */
  static Optional<RoutedRequest> of(
      Request request, Leaders<Node> leaders, Session session, DriverContext context) {
    return of(request, leaders, session.getKeyspace(), session.getMetadata(), context);
  }

  /** As above, for a session with this keyspace and this view of the cluster. */
  static Optional<RoutedRequest> of(
      Request request,
      Leaders<Node> leaders,
      Optional<CqlIdentifier> ofSession,
      Metadata metadata,
      DriverContext context) {
    if (!(request instanceof Statement<?> statement) || statement.getNode() != null) {
      return Optional.empty();
    }
    Optional<String> keyspace = keyspaceOf(statement, ofSession).filter(leaders::knows);
    return keyspace.isEmpty()
            || isPlain(keyspace.get(), metadata)
            || isOfAnyReplica(statement, context)
        ? Optional.empty()
        : token(statement).map(token -> new RoutedRequest(keyspace.get(), token));
  }

  /** Returns who leads, if that node can be asked. */
  Optional<Node> leader(Leaders<Node> leaders) {
    return leaders
        .leader(keyspace, token)
        .filter(
            leader ->
                leader.getState() == NodeState.UP && leader.getDistance() != NodeDistance.IGNORED);
  }

  static Optional<String> keyspaceOf(Statement<?> statement, Optional<CqlIdentifier> ofSession) {
    CqlIdentifier keyspace = statement.getRoutingKeyspace();
    if (keyspace == null) {
      keyspace = statement.getKeyspace();
    }
    return Optional.ofNullable(keyspace).or(() -> ofSession).map(CqlIdentifier::asInternal);
  }

  /** A strong keyspace may be dropped, and another one of its name made. */
  static boolean isPlain(String keyspace, Metadata metadata) {
    return typeOf(keyspace, metadata)
        .filter(type -> !type.equals(RoutedContext.STRONG))
        .isPresent();
  }

  /** Whether the driver's schema says so. */
  static boolean isStrong(String keyspace, Metadata metadata) {
    return typeOf(keyspace, metadata).filter(RoutedContext.STRONG::equals).isPresent();
  }

  private static Optional<String> typeOf(String keyspace, Metadata metadata) {
    return metadata
        .getKeyspace(CqlIdentifier.fromInternal(keyspace))
        .map(known -> known.getReplication().get(RoutedContext.CLASS));
  }

  private static Optional<Long> token(Statement<?> statement) {
    Token token = statement.getRoutingToken();
    if (token == null && statement.getRoutingKey() != null) {
      token = TOKENS.hash(statement.getRoutingKey());
    }
    return token instanceof Murmur3Token murmur3
        ? Optional.of(murmur3.getValue())
        : Optional.empty();
  }

  private static boolean isOfAnyReplica(Statement<?> statement, DriverContext context) {
    return RequestText.of(statement).isRead()
        && ANY_REPLICA.contains(consistencyOf(statement, context));
  }

  private static String consistencyOf(Statement<?> statement, DriverContext context) {
    if (statement.getConsistencyLevel() != null) {
      return statement.getConsistencyLevel().name();
    }
    DriverExecutionProfile profile = statement.getExecutionProfile();
    if (profile == null) {
      String name = statement.getExecutionProfileName();
      profile =
          name == null || name.isEmpty()
              ? context.getConfig().getDefaultProfile()
              : context.getConfig().getProfile(name);
    }
    return profile.getString(DefaultDriverOption.REQUEST_CONSISTENCY);
  }
}
