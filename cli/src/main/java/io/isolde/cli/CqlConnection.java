// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.auth.AuthenticationException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.loadbalancing.NodeDistance;
import com.datastax.oss.driver.api.core.metadata.Node;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Statements for one node of a cluster, wherever it is. */
final class CqlConnection implements AutoCloseable {
  private static final int CONNECT_MILLIS = 2_000;

  /** For a connection with all that the driver asks for first; a busy node takes seconds. */
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);

  /** A change of the oracle's members takes up to this. */
  static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(40);

  /** A user's name and password. */
  record Credentials(String user, String password) {}

  private final CqlSession session;
  private final Node node;

  private CqlConnection(CqlSession session, Node node) {
    this.session = session;
    this.node = node;
  }

  /**
   * Connects.
   *
   * @throws CommandFailedException if nobody answers there, or refuses
   */
  static CqlConnection open(InetSocketAddress address, Optional<Credentials> credentials) {
    requireListener(address);
    CqlSessionBuilder builder =
        CqlSession.builder()
            .addContactPoint(address)
            .withNodeDistanceEvaluator(
                (other, datacenter) ->
                    other.getEndPoint().resolve().equals(address) ? null : NodeDistance.IGNORED)
            .withConfigLoader(
                DriverConfigLoader.programmaticBuilder()
                    .withString(
                        DefaultDriverOption.LOAD_BALANCING_POLICY_CLASS,
                        "DcInferringLoadBalancingPolicy")
                    .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, REQUEST_TIMEOUT)
                    .withBoolean(DefaultDriverOption.METADATA_SCHEMA_ENABLED, false)
                    .withDuration(
                        DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, CONNECT_TIMEOUT)
                    .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, CONNECT_TIMEOUT)
                    .build());
    credentials.ifPresent(given -> builder.withAuthCredentials(given.user, given.password));
    try {
      CqlSession session = builder.build();
      Node node =
          session.getMetadata().getNodes().values().stream()
              .filter(known -> known.getEndPoint().resolve().equals(address))
              .findFirst()
              .orElse(null);
      return new CqlConnection(session, node);
    } catch (DriverException e) {
      throw new CommandFailedException(whyNot(name(address), e), e);
    }
  }

  /** The driver counts all attempts, of which there is one, and wraps what one wants to know. */
  static String whyNot(String address, DriverException failure) {
    List<Throwable> causes =
        failure instanceof AllNodesFailedException all
            ? all.getAllErrors().values().stream().flatMap(List::stream).toList()
            : List.of(failure);
    for (Throwable cause : causes) {
      if (cause instanceof AuthenticationException) {
        return "%s does not let us in: %s".formatted(address, cause.getMessage());
      }
      if (cause instanceof DriverTimeoutException) {
        return "%s takes connections but did not answer within %d s: it is busy, paused or starting."
                .formatted(address, CONNECT_TIMEOUT.toSeconds())
            + " Try again, or ask another node.";
      }
    }
    return "There is no connection with %s: %s".formatted(address, failure.getMessage());
  }

  /** The driver would say the same in many more words. */
  private static void requireListener(InetSocketAddress address) {
    try (Socket socket = new Socket()) {
      socket.connect(address, CONNECT_MILLIS);
    } catch (IOException e) {
      throw new CommandFailedException("No node answers CQL at %s.".formatted(name(address)), e);
    }
  }

  static String name(InetSocketAddress address) {
    return address.getHostString() + ":" + address.getPort();
  }

  /**
   * Executes a statement on this node.
   *
   * @throws CommandFailedException if the node refuses
   */
  List<Row> execute(String cql) {
    return execute(cql, REQUEST_TIMEOUT);
  }

  /** Executes a statement that may take as long as given. */
  List<Row> execute(String cql, Duration timeout) {
    try {
      return session
          .execute(SimpleStatement.newInstance(cql).setNode(node).setTimeout(timeout))
          .all();
    } catch (DriverTimeoutException e) {
      throw new CommandFailedException(
          "The node did not answer within %d s; what it was asked for may still be done."
              .formatted(timeout.toSeconds()),
          e);
    } catch (DriverException e) {
      throw new CommandFailedException(e.getMessage(), e);
    }
  }

  @Override
  public void close() {
    session.close();
  }
}
