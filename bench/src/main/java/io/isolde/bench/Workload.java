// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** A kind of request that can be sent again and again. Thread-safe. */
@FunctionalInterface
interface Workload extends Load {

  /** Sends one request. The stage fails if there is no answer, or a wrong one. */
  CompletionStage<?> send();

  @Override
  default Measurement run(int inFlight, Duration duration) {
    return ClosedLoop.run(this, inFlight, duration);
  }
}
