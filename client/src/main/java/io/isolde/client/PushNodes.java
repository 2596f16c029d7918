// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

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

  /** As one of the nodes of a session knows them. */
  record OfSession(CqlSession session) implements PushNodes {
    @Override
    public CompletionStage<List<Place>> find() {
      return session
          .executeAsync("SELECT address, tls FROM isolde.push_nodes")
          .thenApply(OfSession::places)
          .exceptionally(OfSession::noneIfUnknown);
    }

    private static List<Place> places(AsyncResultSet rows) {
      List<Place> places = new ArrayList<>();
      for (Row row : rows.currentPage()) {
        places.add(new Place(row.getString("address"), row.getBoolean("tls")));
      }
      return places;
    }

    /** Nodes of an older build have no such table. */
    private static List<Place> noneIfUnknown(Throwable error) {
      if (Stages.unwrapped(error) instanceof InvalidQueryException) {
        return List.of();
      }
      throw new CompletionException(Stages.unwrapped(error));
    }
  }
}
