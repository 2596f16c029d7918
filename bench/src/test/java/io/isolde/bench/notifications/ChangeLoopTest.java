// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.bench.kit.Measurement;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class ChangeLoopTest {
  private static final Duration SOME_TIME = Duration.ofMillis(20);

  private final CommitLog log = new CommitLog();
  private final Arrivals arrivals = new Arrivals();
  private final List<Inbox> inboxes = List.of(new Inbox(), new Inbox());
  private final Histogram acknowledgedMicros = new Histogram(3);
  private long last;

  /** Notifies all before it answers, as may happen. */
  private final class Notifying implements Writer {
    @Override
    public long change() {
      last++;
      inboxes.forEach(inbox -> arrivals.arrived(inbox, last));
      return last;
    }

    @Override
    public void close() {}
  }

  /** Of its changes nobody knows. */
  private static final class Doubtful implements Writer {
    @Override
    public long change() {
      throw new DoubtfulException(new IllegalStateException("no answer"));
    }

    @Override
    public void close() {}
  }

  private ChangeLoop loop(Writer writer) {
    return new ChangeLoop(writer, log, arrivals, inboxes.size(), acknowledgedMicros);
  }

  @Test
  void whenAllAreNotifiedThenTheNextChangeIsMade() {
    Measurement seen = loop(new Notifying()).run(SOME_TIME);
    assertThat(last).isGreaterThan(1);
    assertThat(seen.operations()).isEqualTo(2 * last);
    assertThat(seen.errors()).isZero();
    assertThat(log.written().ids()).isEqualTo(LongStream.rangeClosed(1, last).boxed().toList());
    assertThat(inboxes).allSatisfy(inbox -> assertThat(inbox.hasReached(last)).isTrue());
    assertThat(arrivals.intervals().getTotalCount()).isEqualTo(2 * (last - 1));
  }

  @Test
  void whenAChangeHasNoAnswerThenItIsDoubtfulAndAnError() {
    ChangeLoop loop = loop(new Doubtful());
    loop.change();
    assertThat(log.written().doubtful()).isEqualTo(1);
    assertThat(loop.errors()).isEqualTo(1);
    assertThat(acknowledgedMicros.getTotalCount()).isZero();
  }
}
