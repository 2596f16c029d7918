// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

/** Time that passes only in pauses; the jitter is always the longest one. */
final class FakeTiming implements Timing {
  final List<Duration> pauses = new ArrayList<>();
  boolean interrupts;
  private Duration now = Duration.ZERO;

  @Override
  public long nanoTime() {
    return now.toNanos();
  }

  @Override
  public double jitter() {
    return 1;
  }

  @Override
  public void sleep(Duration pause) throws InterruptedException {
    if (interrupts) {
      throw new InterruptedException();
    }
    pass(pause);
  }

  @Override
  public Executor after(Duration pause) {
    return task -> {
      pass(pause);
      task.run();
    };
  }

  private void pass(Duration pause) {
    pauses.add(pause);
    now = now.plus(pause);
  }
}
