// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import java.util.concurrent.atomic.AtomicInteger;

/** The numbers from 0, over and over: who comes is sent to the next server. */
final class RoundRobin {
  private final int count;
  private final AtomicInteger last = new AtomicInteger(-1);

  RoundRobin(int count) {
    this.count = count;
  }

  int next() {
    return Math.floorMod(last.incrementAndGet(), count);
  }
}
