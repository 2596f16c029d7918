// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import io.isolde.bench.kit.Measurement;
import io.isolde.cluster.ToolException;
import java.time.Duration;
import java.util.Optional;
import org.HdrHistogram.Histogram;

/** Makes the next change when all watchers were notified of the last one. */
final class ChangeLoop {
  /** A watcher that hears nothing for so long is waited for no more; the check will tell. */
  private static final long MAX_WAIT_SECONDS = 20;

  /** In one run, so that what watchers heard fits. */
  static final int MAX_CHANGES = Inbox.MAX_IDS / 8;

  private final Writer writer;
  private final CommitLog log;
  private final Arrivals arrivals;
  private final int watchers;
  private final Histogram acknowledgedMicros;
  private long errors;
  private String firstError;

  /**
   * A loop over one population.
   *
   * @param acknowledgedMicros has from sending a change to the writer's answer, for comparison
   */
  ChangeLoop(
      Writer writer, CommitLog log, Arrivals arrivals, int watchers, Histogram acknowledgedMicros) {
    this.writer = writer;
    this.log = log;
    this.arrivals = arrivals;
    this.watchers = watchers;
    this.acknowledgedMicros = acknowledgedMicros;
  }

  /** Runs for some time, and until the last change has arrived. */
  Measurement run(Duration duration) {
    arrivals.reset();
    long start = System.nanoTime();
    for (int i = 0; i < MAX_CHANGES && System.nanoTime() - start < duration.toNanos(); i++) {
      change();
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    Histogram latencies = arrivals.latencies();
    return new Measurement(
        latencies.getTotalCount(),
        latencies.getTotalCount() / seconds,
        latencies.getMean() / 1e3,
        latencies.getValueAtPercentile(50) / 1e3,
        latencies.getValueAtPercentile(99) / 1e3,
        errors,
        Optional.ofNullable(firstError));
  }

  /** Makes one change, and waits for all to hear of it. */
  void change() {
    arrivals.begin(watchers);
    long sentNanos = System.nanoTime();
    long commit;
    try {
      commit = writer.change();
      log.committed(commit);
      acknowledgedMicros.recordValue((System.nanoTime() - sentNanos) / 1000);
    } catch (Writer.DoubtfulException e) {
      log.doubtful();
      failed("A change may have been made: " + e.getCause());
      return;
    } catch (RuntimeException e) {
      failed("A change failed: " + e);
      return;
    }
    try {
      if (!arrivals.await(commit, MAX_WAIT_SECONDS)) {
        failed("Not all watchers were notified within " + MAX_WAIT_SECONDS + " s.");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ToolException("The measurement was interrupted.", e);
    }
  }

  private void failed(String sentence) {
    errors++;
    firstError = firstError == null ? sentence : firstError;
  }

  long errors() {
    return errors;
  }
}
