// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Lets those who had a conflict over the same row try again one after the other, in the order in
 * which they ask: all at once, all but one would only have another conflict. Thread-safe.
 *
 * <p>It is a courtesy, no lock: others write the row meanwhile, and whoever has waited for long
 * enough, or comes when {@value #MAX_ROWS} rows have turns, goes on without one; a turn that is not
 * given back lapses.
 */
final class ConflictQueue {
  static final int MAX_ROWS = 1024;
  static final Duration MAX_WAIT = Duration.ofSeconds(1);
  static final Duration MAX_HOLD = Duration.ofSeconds(1);

  /** To be closed when the attempt is over; closing it again does nothing. */
  interface Permit extends AutoCloseable {
    /** Of those who do not wait for anybody. */
    Permit NONE = () -> {};

    @Override
    void close();
  }

  /** Who waits for which row; a row is here as long as somebody has its turn. Guarded by this. */
  private final Map<String, Queue<CompletableFuture<Permit>>> rows = new HashMap<>();

  /**
   * Completes when it is the caller's turn, or the time is over: at once, or by a thread that must
   * not block.
   *
   * @param row any name that is the same for the same row
   * @param atMost how long to wait; not longer than {@link #MAX_WAIT} in any case
   */
  CompletableFuture<Permit> take(String row, Duration atMost) {
    CompletableFuture<Permit> permit = new CompletableFuture<>();
    synchronized (this) {
      Queue<CompletableFuture<Permit>> waiting = rows.get(row);
      if (waiting == null) {
        return CompletableFuture.completedFuture(rows.size() < MAX_ROWS ? first(row) : Permit.NONE);
      }
      waiting.add(permit);
    }
    Duration wait = atMost.compareTo(MAX_WAIT) < 0 ? atMost : MAX_WAIT;
    return permit.completeOnTimeout(Permit.NONE, Math.max(0, wait.toNanos()), TimeUnit.NANOSECONDS);
  }

  /** Guarded by this. */
  private Permit first(String row) {
    rows.put(row, new ArrayDeque<>());
    return new Held(row).lapsing();
  }

  private void handOn(String row) {
    while (true) {
      CompletableFuture<Permit> next;
      synchronized (this) {
        next = rows.get(row).poll();
        if (next == null) {
          rows.remove(row);
          return;
        }
      }
      Held permit = new Held(row);
      if (next.complete(permit)) { // Else it has given up waiting.
        permit.lapsing();
        return;
      }
    }
  }

  private final class Held implements Permit {
    private final String row;
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private boolean isOver;

    private Held(String row) {
      this.row = row;
    }

    private Held lapsing() {
      var unused =
          end.completeOnTimeout(null, MAX_HOLD.toNanos(), TimeUnit.NANOSECONDS)
              .thenRun(this::close);
      return this;
    }

    @Override
    public void close() {
      synchronized (this) {
        if (isOver) {
          return;
        }
        isOver = true;
      }
      end.complete(null); // No more time-out.
      handOn(row);
    }
  }

  /** How many rows have turns. */
  synchronized int rows() {
    return rows.size();
  }
}
