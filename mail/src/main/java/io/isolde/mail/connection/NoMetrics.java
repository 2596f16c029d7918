// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.connection;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.james.metrics.api.Metric;
import org.apache.james.metrics.api.MetricFactory;
import org.apache.james.metrics.api.TimeMetric;
import org.reactivestreams.Publisher;

/** James wants its commands measured; nobody reads the measurements here. */
public final class NoMetrics implements MetricFactory {

  @Override
  public Metric generate(String name) {
    AtomicInteger value = new AtomicInteger();
    return new Metric() {
      @Override
      public void increment() {
        value.incrementAndGet();
      }

      @Override
      public void decrement() {
        value.decrementAndGet();
      }

      @Override
      public void add(int difference) {
        value.addAndGet(difference);
      }

      @Override
      public void remove(int difference) {
        value.addAndGet(-difference);
      }

      @Override
      public long getCount() {
        return value.get();
      }
    };
  }

  @Override
  public TimeMetric timer(String name) {
    return new TimeMetric() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public ExecutionResult stopAndPublish() {
        return new Unmeasured();
      }
    };
  }

  @Override
  public <T> Publisher<T> decoratePublisherWithTimerMetric(String name, Publisher<T> publisher) {
    return publisher;
  }

  @Override
  @SuppressWarnings("deprecation")
  public <T> Publisher<T> decoratePublisherWithTimerMetricLogP99(
      String name, Publisher<T> publisher) {
    return publisher;
  }

  private static final class Unmeasured implements TimeMetric.ExecutionResult {
    @Override
    public Duration elasped() {
      return Duration.ZERO;
    }

    @Override
    @SuppressWarnings("deprecation")
    public TimeMetric.ExecutionResult logWhenExceedP99(Duration threshold) {
      return this;
    }
  }
}
