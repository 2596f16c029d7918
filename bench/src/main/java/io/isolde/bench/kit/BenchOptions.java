// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * How much a benchmark does. All of them take the same options; each uses those that it needs.
 *
 * @param rounds how often every case is measured. Default 5. Too small: the spread isn't seen. Too
 *     big: it takes long.
 * @param seconds how long a case is measured in a round. Default 3. Too small: a garbage collection
 *     or a flush falls on one case only. Too big: rounds are so long that the weather changes
 *     between a case and its peer.
 * @param warmupSeconds how long a case runs at most before the first round, until the compilers
 *     have little to do for it. Default 20. Too small: the first rounds measure the compiler.
 * @param inFlight requests that are sent and not answered, at any time. Default 50. Too small: idle
 *     cores. Too big: latencies are those of queues.
 * @param rows rows of a table. Default 20000. Too small: everybody writes the same rows. Too big:
 *     the disk is measured.
 * @param rowBytes bytes of a row's value. Default 1024.
 * @param stormPerSecond updates that go on during the cases under a storm. Default 3000. Too big:
 *     the machine can't do it, and the storms of a case and its peer differ.
 * @param heapMegabytes the heap of a node. Default 2048.
 * @param soakMinutes how long to go on, after the rounds, to see whether memory stays flat. Default
 *     0: not at all.
 * @param nodeShare what each node has of the machine in {@code leadership}. Default: they share
 *     all.
 * @param runs how often all of it is done, on new nodes each time. Default 1. The spread of three
 *     runs tells what two versions can be compared by; rounds of one run agree more than runs do.
 * @param against the jars of other builds of the plugin, which {@code builds} compares this one
 *     with. Default: none.
 * @param watchers clients of {@code notifications} that watch the same row, 10,000 at most. Default
 *     1000. Too small: nodes are never busy. Too big: this process is what is measured.
 * @param isInOwnNetwork whether this process runs where nodes can be cut off from one another.
 *     Default no, and benchmarks leave partitions out.
 */
public record BenchOptions(
    int rounds,
    int seconds,
    int warmupSeconds,
    int inFlight,
    int rows,
    int rowBytes,
    int stormPerSecond,
    int heapMegabytes,
    int soakMinutes,
    NodeShare nodeShare,
    int runs,
    List<Path> against,
    int watchers,
    boolean isInOwnNetwork) {
  private static final int MAX_HEAP_MEGABYTES_OF_SEVERAL = 1024;
  private static final int MAX_WATCHERS = 10_000;

  /** What is used unless told. */
  public static final BenchOptions DEFAULTS =
      new BenchOptions(
          5, 3, 20, 50, 20_000, 1024, 3000, 2048, 0, NodeShare.ALL, 1, List.of(), 1000, false);

  public BenchOptions {
    against = List.copyOf(against);
    requireAtLeast("rounds", rounds, 1);
    requireAtLeast("seconds", seconds, 1);
    requireAtLeast("warm-up seconds", warmupSeconds, 0);
    requireAtLeast("requests in flight", inFlight, 2);
    requireAtLeast("rows", rows, 1);
    requireAtLeast("bytes of a row", rowBytes, Long.BYTES);
    requireAtLeast("updates per second of a storm", stormPerSecond, 1);
    requireAtLeast("heap megabytes", heapMegabytes, 512);
    requireAtLeast("minutes of the soak", soakMinutes, 0);
    requireAtLeast("runs", runs, 1);
    requireAtLeast("watchers", watchers, 1);
    if (watchers > MAX_WATCHERS) {
      throw new IllegalArgumentException(
          "The watchers are %d, but must be at most %d.".formatted(watchers, MAX_WATCHERS));
    }
    if (inFlight > 1000) {
      throw new IllegalArgumentException(
          "The requests in flight are %d, but one connection takes at most 1000."
              .formatted(inFlight));
    }
  }

  private static void requireAtLeast(String what, int value, int least) {
    if (value < least) {
      throw new IllegalArgumentException(
          "The %s are %d, but must be at least %d.".formatted(what, value, least));
    }
  }

  /** Returns the same, for other rows. */
  public BenchOptions withRows(int count, int bytes) {
    return with(count, bytes, heapMegabytes);
  }

  /** Returns the same, with a heap of which this machine has room for so many. */
  public BenchOptions onNodes(int nodes) {
    return nodes == 1 ? this : withHeapUpTo(MAX_HEAP_MEGABYTES_OF_SEVERAL);
  }

  /** Returns the same, with nodes whose heap is not larger than this. */
  public BenchOptions withHeapUpTo(int megabytes) {
    return with(rows, rowBytes, Math.min(megabytes, heapMegabytes));
  }

  private BenchOptions with(int otherRows, int otherRowBytes, int otherHeapMegabytes) {
    return new BenchOptions(
        rounds,
        seconds,
        warmupSeconds,
        inFlight,
        otherRows,
        otherRowBytes,
        stormPerSecond,
        otherHeapMegabytes,
        soakMinutes,
        nodeShare,
        runs,
        against,
        watchers,
        isInOwnNetwork);
  }

  /** Returns how long a case is measured in a round. */
  public Duration measured() {
    return Duration.ofSeconds(seconds);
  }
}
