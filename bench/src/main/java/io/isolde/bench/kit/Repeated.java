// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import java.util.concurrent.CompletableFuture;

/** A step that a thread takes again and again until it is closed. */
public final class Repeated implements AutoCloseable {
  private final CompletableFuture<Void> running;
  private volatile boolean isOver;

  /** Starts at once. */
  public Repeated(String name, Runnable step) {
    running = CompletableFuture.runAsync(() -> repeat(step), task -> startThread(name, task));
  }

  private static void startThread(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }

  private void repeat(Runnable step) {
    while (!isOver) {
      step.run();
    }
  }

  /** Waits for the end of the last step; fails if a step has failed. */
  @Override
  public void close() {
    isOver = true;
    running.join();
  }
}
