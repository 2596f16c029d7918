// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import java.time.Duration;

/** What can be measured for some time, wherever its clients are. */
interface Load {

  /** Keeps so many requests in flight for the given time, and until the last is answered. */
  Measurement run(int inFlight, Duration duration);
}
