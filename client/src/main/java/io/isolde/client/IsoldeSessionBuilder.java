// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.context.DriverContext;
import com.datastax.oss.driver.api.core.session.ProgrammaticArguments;
import com.datastax.oss.driver.internal.core.context.DefaultDriverContext;
import com.datastax.oss.driver.internal.core.metadata.token.ReplicationStrategyFactory;
import java.util.Map;

/**
 * Builds sessions for clusters with strong keyspaces. The driver does not know their replication
 * strategy. Where it meets one it does not know, it gives up its map of who has which data: for all
 * keyspaces, so that no request goes to a replica of its row any more but by chance. To these
 * sessions every node has all of a strong keyspace, since every node serves it.
 *
 * <p>In all else as {@link com.datastax.oss.driver.api.core.CqlSession#builder}.
 */
public final class IsoldeSessionBuilder extends CqlSessionBuilder {
  private static final String CLASS = "class";
  private static final String STRONG = "io.isolde.replication.ReplicatedLogStrategy";
  private static final Map<String, String> EVERYWHERE =
      Map.of(CLASS, "org.apache.cassandra.locator.EverywhereStrategy");

  @Override
  protected DriverContext buildContext(
      DriverConfigLoader configLoader, ProgrammaticArguments programmaticArguments) {
    return new Context(configLoader, programmaticArguments);
  }

  private static final class Context extends DefaultDriverContext {
    Context(DriverConfigLoader configLoader, ProgrammaticArguments programmaticArguments) {
      super(configLoader, programmaticArguments);
    }

    @Override
    protected ReplicationStrategyFactory buildReplicationStrategyFactory() {
      ReplicationStrategyFactory known = super.buildReplicationStrategyFactory();
      return replication ->
          known.newInstance(STRONG.equals(replication.get(CLASS)) ? EVERYWHERE : replication);
    }
  }
}
