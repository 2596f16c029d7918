// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.DriverException;
import io.isolde.client.IsoldeException;
import io.isolde.system.Await;
import io.isolde.system.Pace;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.IntConsumer;

/**
 * A client that writes one number after the other, and keeps those that were acknowledged. What
 * fails may be written or not.
 */
final class AcknowledgedWrites implements AutoCloseable {
  private final String name;
  private final IntConsumer write;
  private final Set<Integer> acknowledged = new ConcurrentSkipListSet<>();
  private final Thread thread = new Thread(this::run);
  private volatile boolean isOver;
  private volatile Throwable failure;

  private AcknowledgedWrites(String name, IntConsumer write) {
    this.name = name;
    this.write = write;
  }

  static AcknowledgedWrites start(String name, IntConsumer write) {
    AcknowledgedWrites writes = new AcknowledgedWrites(name, write);
    writes.thread.start();
    return writes;
  }

  private void run() {
    try {
      for (int number = 0; !isOver; number++) {
        try {
          write.accept(number);
          acknowledged.add(number);
        } catch (DriverException | IsoldeException e) {
          failure = e;
        }
        Pace.pause();
      }
    } catch (RuntimeException | Error e) {
      failure = e;
      throw e;
    }
  }

  /** Waits until some more are acknowledged. */
  void awaitMore() {
    int before = acknowledged.size();
    Await.until(
        "more " + name + " writes are acknowledged (last failure: " + failure + ")",
        () -> acknowledged.size() >= before + 5);
  }

  /** Ends the client. */
  @Override
  public void close() {
    isOver = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The client has ended, and what is there has all that was acknowledged. */
  void assertAllIn(Set<Integer> present) {
    assertThat(thread.isAlive()).isFalse();
    assertThat(acknowledged).as(name).isNotEmpty();
    assertThat(present).as("what was acknowledged of " + name).containsAll(acknowledged);
  }
}
