// SPDX-License-Identifier: Apache-2.0
package io.isolde.client.routing;

import com.datastax.dse.driver.internal.core.cql.reactive.CqlRequestReactiveProcessor;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.loadbalancing.LoadBalancingPolicy;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.session.ProgrammaticArguments;
import com.datastax.oss.driver.api.core.specex.SpeculativeExecutionPolicy;
import com.datastax.oss.driver.internal.core.context.DefaultDriverContext;
import com.datastax.oss.driver.internal.core.cql.CqlRequestAsyncProcessor;
import com.datastax.oss.driver.internal.core.cql.CqlRequestSyncProcessor;
import com.datastax.oss.driver.internal.core.metadata.token.ReplicationStrategyFactory;
import com.datastax.oss.driver.internal.core.session.BuiltInRequestProcessors;
import com.datastax.oss.driver.internal.core.session.RequestProcessor;
import com.datastax.oss.driver.internal.core.session.RequestProcessorRegistry;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The driver's parts, with those that know of strong keyspaces. */
public final class RoutedContext extends DefaultDriverContext {
  static final String CLASS = "class";
  static final String STRONG = "io.isolde.replication.ReplicatedLogStrategy";

  /** Every node serves a strong keyspace. */
  private static final Map<String, String> EVERYWHERE =
      Map.of(CLASS, "org.apache.cassandra.locator.EverywhereStrategy");

  private final Leaders<Node> leaders = new Leaders<>();
  private final boolean isRouting;
  private final Duration hedgeAfter;

  /**
   * The parts of a session.
   *
   * @param isRouting whether requests go to leaders
   * @param hedgeAfter how long a request waits for its leader before another node is asked, too;
   *     zero: for ever
   */
  public RoutedContext(
      DriverConfigLoader configLoader,
      ProgrammaticArguments programmaticArguments,
      boolean isRouting,
      Duration hedgeAfter) {
    super(configLoader, programmaticArguments);
    this.isRouting = isRouting;
    this.hedgeAfter = hedgeAfter;
  }

  @Override
  protected ReplicationStrategyFactory buildReplicationStrategyFactory() {
    ReplicationStrategyFactory known = super.buildReplicationStrategyFactory();
    return replication ->
        known.newInstance(STRONG.equals(replication.get(CLASS)) ? EVERYWHERE : replication);
  }

  @Override
  protected Map<String, LoadBalancingPolicy> buildLoadBalancingPolicies() {
    Map<String, LoadBalancingPolicy> policies = new HashMap<>(super.buildLoadBalancingPolicies());
    if (isRouting) {
      // Profiles may share a policy, which the driver opens and closes once.
      Map<LoadBalancingPolicy, LoadBalancingPolicy> routed = new HashMap<>();
      policies.replaceAll(
          (profile, policy) ->
              routed.computeIfAbsent(policy, each -> new LeaderFirst(each, leaders, this)));
    }
    return policies;
  }

  @Override
  protected Map<String, SpeculativeExecutionPolicy> buildSpeculativeExecutionPolicies() {
    Map<String, SpeculativeExecutionPolicy> policies =
        new HashMap<>(super.buildSpeculativeExecutionPolicies());
    if (isHedging()) {
      Map<SpeculativeExecutionPolicy, SpeculativeExecutionPolicy> hedged = new HashMap<>();
      policies.replaceAll(
          (profile, policy) ->
              hedged.computeIfAbsent(
                  policy, each -> new FollowerHedge(each, leaders, this, hedgeAfter)));
    }
    return policies;
  }

  private boolean isHedging() {
    return isRouting && !hedgeAfter.isZero();
  }

  @Override
  protected RequestProcessorRegistry buildRequestProcessorRegistry() {
    if (!isRouting) {
      return super.buildRequestProcessorRegistry();
    }
    CqlRequestAsyncProcessor learning =
        new LearningProcessor(
            leaders, isHedging() ? Optional.of(new NamedWrites()) : Optional.empty());
    RequestProcessor<?, ?>[] processors =
        BuiltInRequestProcessors.createDefaultProcessors(this).stream()
            .map(processor -> learning(processor, learning))
            .toArray(RequestProcessor<?, ?>[]::new);
    return new RequestProcessorRegistry(getSessionName(), processors);
  }

  private static RequestProcessor<?, ?> learning(
      RequestProcessor<?, ?> processor, CqlRequestAsyncProcessor learning) {
    if (processor instanceof CqlRequestAsyncProcessor) {
      return learning;
    }
    if (processor instanceof CqlRequestSyncProcessor) {
      return new CqlRequestSyncProcessor(learning);
    }
    return processor instanceof CqlRequestReactiveProcessor
        ? new CqlRequestReactiveProcessor(learning)
        : processor;
  }
}
