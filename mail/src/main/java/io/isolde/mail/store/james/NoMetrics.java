// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.james.metrics.api.Metric;
import org.apache.james.metrics.api.MetricFactory;
import org.apache.james.metrics.api.TimeMetric;
import org.reactivestreams.Publisher;

/** Takes what James measures, and publishes nothing. */
@SuppressWarnings("deprecation") // James still asks for what it has deprecated.
public final class NoMetrics implements MetricFactory {

  @Override
  public Metric generate(String name) {
    return new Count();
  }

  @Override
  public TimeMetric timer(String name) {
    return new Time(name, System.nanoTime());
  }

  @Override
  public <T> Publisher<T> decoratePublisherWithTimerMetric(String name, Publisher<T> publisher) {
    return publisher;
  }

  @Override
  public <T> Publisher<T> decoratePublisherWithTimerMetricLogP99(
      String name, Publisher<T> publisher) {
    return publisher;
  }

  private static final class Count implements Metric {
    private final AtomicLong count = new AtomicLong();

    @Override
    public void increment() {
      count.incrementAndGet();
    }

    @Override
    public void decrement() {
      count.decrementAndGet();
    }

    @Override
    public void add(int value) {
      count.addAndGet(value);
    }

    @Override
    public void remove(int value) {
      count.addAndGet(-value);
    }

    @Override
    public long getCount() {
      return count.get();
    }
  }

  private record Time(String name, long startNanos) implements TimeMetric {
    @Override
    public ExecutionResult stopAndPublish() {
      return new Elapsed(Duration.ofNanos(System.nanoTime() - startNanos));
    }
  }

  private record Elapsed(Duration elasped) implements TimeMetric.ExecutionResult {
    @Override
    public TimeMetric.ExecutionResult logWhenExceedP99(Duration threshold) {
      return this;
    }
  }
}
