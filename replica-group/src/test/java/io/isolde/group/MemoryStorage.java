// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/**
 * Keys and values, the newest timestamp wins: what is durable survives {@link #crash}, what is not
 * must come from the log again.
 */
final class MemoryStorage implements Storage {
  private static final String EMPTYING = "(empty)";

  /** Until the next emptying no decision is applied. */
  private static final String HOLDING = "(hold)";

  record Cell(long micros, String value) {}

  private final Map<String, Cell> durable = new ConcurrentHashMap<>();
  private final Map<String, Cell> cells = new ConcurrentHashMap<>();

  /** Every write that was ever applied, by its timestamp. */
  final Map<Long, String> applied = new ConcurrentSkipListMap<>();

  /** The storages of the other members, by address. */
  private final Function<String, MemoryStorage> others;

  /** What a failed flush has left: it is read, and no later flush makes it durable. */
  private final Map<String, Cell> stuck = new ConcurrentHashMap<>();

  /** All that is older is gone; 0 if nothing was ever emptied. */
  private long emptiedMicros;

  private boolean areDecisionsHeld;

  private volatile int lateMillis;

  /** Null unless nothing can be applied. */
  private volatile String problem;

  private volatile boolean isStopped;

  final AtomicInteger failedFlushes = new AtomicInteger();

  final AtomicInteger copies = new AtomicInteger();

  MemoryStorage(Function<String, MemoryStorage> others) {
    this.others = others;
  }

  static byte[] payload(String key, String value) {
    return (key + "=" + value).getBytes(StandardCharsets.UTF_8);
  }

  /** A write that empties the storage, of whatever was written before. */
  static byte[] emptying() {
    return EMPTYING.getBytes(StandardCharsets.UTF_8);
  }

  /** A write after which decisions are refused until the storage is emptied. */
  static byte[] holding() {
    return HOLDING.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public boolean isRefused(byte[] payload, Object decoded, long proposedMicros) {
    return areDecisionsHeld;
  }

  /** From now on each write takes so long. */
  void applyLate(int millis) {
    lateMillis = millis;
  }

  /** From now on nothing can be applied, and what is tried waits; null for an end of that. */
  void breakDown(String why) {
    problem = why;
  }

  @Override
  public Optional<String> problem() {
    return Optional.ofNullable(problem);
  }

  @Override
  public void stop() {
    isStopped = true;
  }

  private void awaitRepair() {
    while (problem != null) {
      if (isStopped) {
        throw new IllegalStateException("This replica stops.");
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
  }

  @Override
  public long apply(byte[] payload, Object decoded, long timestampMicros) {
    awaitRepair();
    if (lateMillis > 0) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(lateMillis));
    }
    String text = new String(payload, StandardCharsets.UTF_8);
    applied.put(timestampMicros, text);
    if (text.equals(HOLDING)) {
      areDecisionsHeld = true;
      return timestampMicros;
    }
    if (text.equals(EMPTYING)) {
      areDecisionsHeld = false;
      emptiedMicros = timestampMicros;
      removeOlder();
      return timestampMicros;
    }
    String[] parts = text.split("=", 2);
    merge(cells, parts[0], new Cell(timestampMicros, parts[1]));
    return timestampMicros;
  }

  private void removeOlder() {
    cells.values().removeIf(cell -> cell.micros() < emptiedMicros);
    durable.values().removeIf(cell -> cell.micros() < emptiedMicros);
  }

  @Override
  public byte[] state() {
    return ByteBuffer.allocate(Long.BYTES).putLong(emptiedMicros).array();
  }

  @Override
  public void restore(byte[] state) {
    isStopped = false;
    emptiedMicros = state.length == 0 ? 0 : ByteBuffer.wrap(state).getLong();
    removeOlder();
  }

  private static void merge(Map<String, Cell> into, String key, Cell cell) {
    into.merge(key, cell, (a, b) -> a.micros() >= b.micros() ? a : b);
  }

  /** As Cassandra's flush that fails: it is not tried again. */
  void failToFlush() {
    cells.entrySet().stream()
        .filter(entry -> !entry.getValue().equals(durable.get(entry.getKey())))
        .forEach(entry -> stuck.put(entry.getKey(), entry.getValue()));
  }

  /** All that is not stuck, and fails if anything is. */
  @Override
  public CompletableFuture<Void> flush() {
    makeDurable();
    if (!stuck.isEmpty()) {
      failedFlushes.incrementAndGet();
      return CompletableFuture.failedFuture(new IllegalStateException("A flush has failed."));
    }
    return CompletableFuture.completedFuture(null);
  }

  private void makeDurable() {
    cells.forEach(
        (key, cell) -> {
          if (!cell.equals(stuck.get(key))) {
            merge(durable, key, cell);
          }
        });
  }

  @Override
  public void empty() {
    lose();
  }

  /** Of the other's disk, after a flush of which nobody asks whether it succeeded. */
  @Override
  public CompletableFuture<Void> copyFrom(String address) {
    copies.incrementAndGet();
    MemoryStorage other = others.apply(address);
    other.makeDurable();
    other.durable.forEach(
        (key, cell) -> {
          merge(cells, key, cell);
          merge(durable, key, cell);
        });
    return CompletableFuture.completedFuture(null);
  }

  String get(String key) {
    Cell cell = cells.get(key);
    return cell == null ? null : cell.value();
  }

  /** The process ends: memory is gone. */
  void crash() {
    emptiedMicros = 0;
    stuck.clear();
    cells.clear();
    cells.putAll(durable);
  }

  /** The disk is gone, too. */
  void lose() {
    stuck.clear();
    cells.clear();
    durable.clear();
  }
}
