// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.strong;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.system.Await;
import io.isolde.system.Pace;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/** One client that writes row after row through one node, and remembers what was answered. */
final class OngoingWrites {
  private static final long AFTER_FAILURE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final int MAX_FAILURES = 5_000;

  private final List<Integer> written = new CopyOnWriteArrayList<>();
  private final List<Throwable> failures = new CopyOnWriteArrayList<>();
  private final AtomicBoolean isOver = new AtomicBoolean();
  private final Thread thread;

  private OngoingWrites(StrongCluster nodes, int through, String insert, int firstKey) {
    thread =
        new Thread(
            () -> {
              for (int key = firstKey; !isOver.get(); key++) {
                try {
                  nodes.on(through, insert, key);
                  written.add(key);
                  Pace.pause();
                } catch (RuntimeException e) {
                  failures.add(e);
                  LockSupport.parkNanos(AFTER_FAILURE_NANOS);
                }
                if (failures.size() > MAX_FAILURES) {
                  return; // The test has failed long ago.
                }
              }
            });
    thread.setDaemon(true);
  }

  /**
   * Starts, and waits until some rows are written.
   *
   * @param insert with one parameter, the key
   */
  static OngoingWrites start(StrongCluster nodes, int through, String insert, int firstKey) {
    OngoingWrites writes = new OngoingWrites(nodes, through, insert, firstKey);
    writes.thread.start();
    writes.awaitMore();
    return writes;
  }

  /** Waits until they have gone on for some rows. */
  void awaitMore() {
    int before = written.size();
    Await.until("writes go on", () -> written.size() > before + 20);
  }

  /** The key that was written last. */
  int newest() {
    return written.get(written.size() - 1);
  }

  /** Ends them; none may have failed. Returns the keys that are written. */
  List<Integer> end() throws InterruptedException {
    List<Integer> all = endWithFailures();
    assertThat(failures).isEmpty();
    return all;
  }

  /** Ends them. Returns the keys that were said to be written. */
  List<Integer> endWithFailures() throws InterruptedException {
    isOver.set(true);
    thread.join();
    return written;
  }
}
