// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.failover;

import io.isolde.bench.nodes.ChildControl;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A process whose threads want all the processor time that they can get, for a bounded time. */
final class BusyMain {

  private BusyMain() {}

  /** Arguments: how many threads, and for how many seconds. */
  public static void main(String[] arguments) {
    ChildControl.start(Map.of());
    long seconds = Long.parseLong(arguments[1]);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
      Thread thread =
          new Thread(
              () -> {
                while (System.nanoTime() - deadline < 0) {
                  Thread.onSpinWait();
                }
              },
              "busy-" + i);
      thread.start();
    }
  }
}
