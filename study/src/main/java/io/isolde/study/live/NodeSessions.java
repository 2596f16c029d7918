// SPDX-License-Identifier: Apache-2.0
package io.isolde.study.live;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import io.isolde.cluster.ToolException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;

/** Connections to all nodes of a cluster, in whichever datacenters they are. */
public final class NodeSessions {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  /** A user's name and password. */
  public record Credentials(String user, String password) {}

  private NodeSessions() {}

  /**
   * Connects.
   *
   * @throws ToolException if nobody answers there, or refuses
   */
  public static CqlSession open(
      Collection<InetSocketAddress> contactPoints, Optional<Credentials> credentials) {
    CqlSessionBuilder builder =
        CqlSession.builder()
            .addContactPoints(contactPoints)
            .withConfigLoader(
                DriverConfigLoader.programmaticBuilder()
                    // Without a local datacenter, all of them are.
                    .withString(
                        DefaultDriverOption.LOAD_BALANCING_POLICY_CLASS, "BasicLoadBalancingPolicy")
                    .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, TIMEOUT)
                    .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, TIMEOUT)
                    .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, TIMEOUT)
                    .withDuration(
                        DefaultDriverOption.RECONNECTION_BASE_DELAY, Duration.ofMillis(500))
                    .withDuration(DefaultDriverOption.RECONNECTION_MAX_DELAY, Duration.ofSeconds(2))
                    .build());
    credentials.ifPresent(given -> builder.withAuthCredentials(given.user(), given.password()));
    try {
      return builder.build();
    } catch (DriverException e) {
      throw new ToolException(
          "No node of %s lets us in: %s".formatted(contactPoints, e.getMessage()), e);
    }
  }
}
