// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.loadbalancing.NodeDistance;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import com.datastax.oss.driver.api.core.servererrors.UnauthorizedException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Where nodes push changes. */
@FunctionalInterface
interface PushNodes {
  /**
   * A port.
   *
   * @param address as host:port
   * @param isTls whether clients must use TLS
   */
  record Place(String address, boolean isTls) {}

  /** All that are known now; none if nodes offer no such port. */
  CompletionStage<List<Place>> find();

  /**
   * As one of the nodes of a session knows them: those of the driver's data centre, if there are
   * any. All clients of a session share what one has found, for a moment.
   */
  record OfSession(CqlSession session) implements PushNodes {
    private static final SimpleStatement SELECT =
        SimpleStatement.newInstance("SELECT * FROM isolde.push_nodes").setIdempotent(true);

    private static final long MAX_AGE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private record Found(CompletableFuture<List<Place>> places, long nanos) {
      private boolean isFresh() {
        return !places.isDone() || System.nanoTime() - nanos < MAX_AGE_NANOS;
      }
    }

    private static final Map<CqlSession, Found> FOUND =
        Collections.synchronizedMap(new WeakHashMap<>());

    @Override
    public CompletionStage<List<Place>> find() {
      return FOUND
          .compute(session, (same, last) -> last != null && last.isFresh() ? last : look())
          .places
          .copy();
    }

    private Found look() {
      return new Found(
          Stages.of(() -> session.executeAsync(SELECT))
              .thenApply(this::places)
              .exceptionally(OfSession::noneIfUnknown)
              .toCompletableFuture(),
          System.nanoTime());
    }

    private List<Place> places(AsyncResultSet rows) {
      Set<String> near = near();
      List<Place> all = new ArrayList<>();
      List<Place> preferred = new ArrayList<>();
      for (Row row : rows.currentPage()) {
        Place place = new Place(row.getString("address"), row.getBoolean("tls"));
        all.add(place);
        if (near.contains(row.getString("datacenter"))) {
          preferred.add(place);
        }
      }
      return preferred.isEmpty() ? all : preferred;
    }

    /** The data centres whose nodes the driver asks first. */
    private Set<String> near() {
      return session.getMetadata().getNodes().values().stream()
          .filter(node -> node.getDistance() == NodeDistance.LOCAL)
          .map(Node::getDatacenter)
          .collect(Collectors.toSet());
    }

    /** Nodes of an older build have no such table, and a role may lack the grant for it. */
    private static List<Place> noneIfUnknown(Throwable error) {
      Throwable cause = Stages.unwrapped(error);
      if (cause instanceof InvalidQueryException || cause instanceof UnauthorizedException) {
        return List.of();
      }
      throw new CompletionException(cause);
    }
  }
}
