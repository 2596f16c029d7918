// SPDX-License-Identifier: Apache-2.0
package io.isolde.client.routing;

import com.datastax.oss.driver.api.core.context.DriverContext;
import com.datastax.oss.driver.api.core.loadbalancing.LoadBalancingPolicy;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.session.Request;
import com.datastax.oss.driver.api.core.session.Session;
import com.datastax.oss.driver.api.core.tracker.RequestTracker;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A load balancing policy that asks the leader first, where it is known. */
final class LeaderFirst implements LoadBalancingPolicy {
  private final LoadBalancingPolicy policy;
  private final Leaders<Node> leaders;
  private final DriverContext context;

  LeaderFirst(LoadBalancingPolicy policy, Leaders<Node> leaders, DriverContext context) {
    this.policy = policy;
    this.leaders = leaders;
    this.context = context;
  }

  @Override
  public Queue<Node> newQueryPlan(Request request, Session session) {
    Queue<Node> plan = policy.newQueryPlan(request, session);
    return session == null || request == null // as the driver itself asks, before there is one
        ? plan
        : RoutedRequest.of(request, leaders, session, context)
            .flatMap(routed -> routed.leader(leaders))
            .map(leader -> withFirst(leader, plan))
            .orElse(plan);
  }

  private static Queue<Node> withFirst(Node leader, Queue<Node> plan) {
    Queue<Node> all = new ConcurrentLinkedQueue<>();
    all.add(leader);
    for (Node node = plan.poll(); node != null; node = plan.poll()) {
      if (!node.equals(leader)) {
        all.add(node);
      }
    }
    return all;
  }

  @Override
  public Optional<RequestTracker> getRequestTracker() {
    return policy.getRequestTracker();
  }

  @Override
  public void init(Map<UUID, Node> nodes, DistanceReporter reporter) {
    policy.init(nodes, reporter);
  }

  @Override
  public void onAdd(Node node) {
    policy.onAdd(node);
  }

  @Override
  public void onUp(Node node) {
    policy.onUp(node);
  }

  @Override
  public void onDown(Node node) {
    policy.onDown(node);
  }

  @Override
  public void onRemove(Node node) {
    policy.onRemove(node);
  }

  @Override
  public void close() {
    policy.close();
  }
}
