// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import com.datastax.oss.driver.api.core.metadata.Node;
import java.util.concurrent.CompletionStage;

/** What the load asks of the nodes. */
interface LoadRequests {
  CompletionStage<?> write(Node coordinator, long id, int version);

  /** The version that is seen; -1 if the row isn't there. */
  CompletionStage<Integer> read(Node coordinator, long id);

  /** A request that no replica has a part in: the way to a coordinator and back. */
  CompletionStage<?> roundTrip(Node coordinator);
}
