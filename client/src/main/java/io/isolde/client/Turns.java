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
 * enough, or comes when {@value #MOST_ROWS} rows have turns, goes on without one; a turn that is
 * not given back lapses.
 */
final class Turns {
  static final int MOST_ROWS = 1024;
  static final Duration LONGEST_WAIT = Duration.ofSeconds(1);
  static final Duration LONGEST_TURN = Duration.ofSeconds(1);

  /** To be closed when the attempt is over; closing it again does nothing. */
  interface Turn extends AutoCloseable {
    /** Of those who do not wait for anybody. */
    Turn NONE = () -> {};

    @Override
    void close();
  }

  /** Who waits for which row; a row is here as long as somebody has its turn. Guarded by this. */
  private final Map<String, Queue<CompletableFuture<Turn>>> rows = new HashMap<>();

  /**
   * Completes when it is the caller's turn, or the time is over: at once, or by a thread that must
   * not block.
   *
   * @param row any name that is the same for the same row
   * @param atMost how long to wait; not longer than {@link #LONGEST_WAIT} in any case
   */
  CompletableFuture<Turn> take(String row, Duration atMost) {
    CompletableFuture<Turn> turn = new CompletableFuture<>();
    synchronized (this) {
      Queue<CompletableFuture<Turn>> waiting = rows.get(row);
      if (waiting == null) {
        return CompletableFuture.completedFuture(rows.size() < MOST_ROWS ? first(row) : Turn.NONE);
      }
      waiting.add(turn);
    }
    Duration wait = atMost.compareTo(LONGEST_WAIT) < 0 ? atMost : LONGEST_WAIT;
    return turn.completeOnTimeout(Turn.NONE, Math.max(0, wait.toNanos()), TimeUnit.NANOSECONDS);
  }

  /** Guarded by this. */
  private Turn first(String row) {
    rows.put(row, new ArrayDeque<>());
    return new Held(row).lapsing();
  }

  private void handOn(String row) {
    while (true) {
      CompletableFuture<Turn> next;
      synchronized (this) {
        next = rows.get(row).poll();
        if (next == null) {
          rows.remove(row);
          return;
        }
      }
      Held turn = new Held(row);
      if (next.complete(turn)) { // Else it has given up waiting.
        turn.lapsing();
        return;
      }
    }
  }

  private final class Held implements Turn {
    private final String row;
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private boolean isOver;

    private Held(String row) {
      this.row = row;
    }

    private Held lapsing() {
      var unused =
          end.completeOnTimeout(null, LONGEST_TURN.toNanos(), TimeUnit.NANOSECONDS)
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
