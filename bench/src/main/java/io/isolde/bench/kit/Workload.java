// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;

/** A kind of request that can be sent again and again. Thread-safe. */
@FunctionalInterface
public interface Workload extends Load {
  /** Sends one request. The stage fails if there is no answer, or a wrong one. */
  CompletionStage<?> send();

  /** A share of one kind of request among another. */
  static Workload mixed(Workload often, Workload rest, double share) {
    return () -> ThreadLocalRandom.current().nextDouble() < share ? often.send() : rest.send();
  }

  /** One request after the other, as one operation. */
  static Workload both(Workload first, Workload second) {
    return () -> {
      CompletionStage<?> one = first.send();
      return one.thenCompose(done -> second.send());
    };
  }

  @Override
  default Measurement run(int inFlight, Duration duration) {
    return ClosedLoop.run(this, inFlight, duration);
  }
}
