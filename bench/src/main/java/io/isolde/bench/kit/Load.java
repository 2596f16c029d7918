// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import java.time.Duration;

/** What can be measured for some time, wherever its clients are. */
public interface Load {
  /** Keeps so many requests in flight for the given time, and until the last is answered. */
  Measurement run(int inFlight, Duration duration);

  /** Returns the same with so many requests in flight, whatever is asked for. */
  default Load at(int inFlight) {
    return (any, duration) -> run(inFlight, duration);
  }
}
