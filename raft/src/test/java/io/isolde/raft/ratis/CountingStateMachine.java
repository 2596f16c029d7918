// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.FileStateMachine;
import io.isolde.raft.LogData;
import io.isolde.raft.LogPosition;
import io.isolde.raft.StateFiles;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Keeps what it is given, and answers with how many that are. It saves nothing. */
final class CountingStateMachine implements FileStateMachine {
  private final List<String> applied = new ArrayList<>();

  /** Nothing is applied before it is open. */
  private volatile CountDownLatch open = new CountDownLatch(0);

  void awaitBeforeEachEntry(CountDownLatch latch) {
    open = latch;
  }

  synchronized List<String> applied() {
    return List.copyOf(applied);
  }

  @Override
  public void apply(LogPosition at, ByteBuffer data, LogData own) {
    try {
      open.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    int count = count(StandardCharsets.UTF_8.decode(data).toString());
    if (own != null) {
      ((Text) own).applied(String.valueOf(count));
    }
  }

  private synchronized int count(String text) {
    applied.add(text);
    return applied.size();
  }

  @Override
  public void restore(LogPosition at, Path file) {
    throw new AssertionError("Nothing was saved.");
  }

  @Override
  public void saveIfDue(LogPosition at, StateFiles files) {}

  @Override
  public void close() {}
}
