// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.rows.RowIterator;
import org.apache.cassandra.utils.AbstractIterator;
import org.junit.jupiter.api.Test;

/** Whatever is opened is closed, wherever its reader stops. */
class SequentialPartitionsTest {
  private static final int PARTITIONS_OF_EACH = 2;

  private final List<Integer> opened = new ArrayList<>();
  private final List<Integer> closed = new ArrayList<>();

  /** A source whose partitions are of no interest; it fails after a number of them. */
  private SequentialPartitions.Source source(int number, int partitions, boolean failsThen) {
    return () -> {
      opened.add(number);
      return new Partitions(number, partitions, failsThen);
    };
  }

  private final class Partitions extends AbstractIterator<RowIterator>
      implements PartitionIterator {
    private final int number;
    private final boolean failsThen;
    private int left;

    Partitions(int number, int left, boolean failsThen) {
      this.number = number;
      this.left = left;
      this.failsThen = failsThen;
    }

    @Override
    protected RowIterator computeNext() {
      if (left == 0 && failsThen) {
        throw new IllegalStateException("half-way");
      }
      return left-- > 0 ? NO_ROWS : endOfData();
    }

    @Override
    public void close() {
      closed.add(number);
    }
  }

  private static final RowIterator NO_ROWS =
      (RowIterator)
          Proxy.newProxyInstance(
              RowIterator.class.getClassLoader(),
              new Class<?>[] {RowIterator.class},
              (proxy, method, arguments) -> null);

  private SequentialPartitions of(int sources) {
    Iterator<SequentialPartitions.Source> each =
        IntStream.range(0, sources)
            .mapToObj(number -> source(number, PARTITIONS_OF_EACH, false))
            .iterator();
    return new SequentialPartitions(each);
  }

  @Test
  void whenAReaderStopsAnywhereThenWhatWasOpenedIsClosedAndNoMoreIsOpened() {
    int sources = 3;
    for (int taken = 0; taken <= sources * PARTITIONS_OF_EACH; taken++) {
      opened.clear();
      closed.clear();
      try (SequentialPartitions sequentially = of(sources)) {
        for (int i = 0; i < taken; i++) {
          var unused = sequentially.next();
        }
        int needed = (taken + PARTITIONS_OF_EACH - 1) / PARTITIONS_OF_EACH;
        assertThat(opened).as("after %d", taken).hasSize(needed);
      }
      assertThat(closed).as("after %d", taken).isEqualTo(opened);
    }
  }

  @Test
  void whenAllIsReadThenEachIsClosedOnceBeforeTheNextIsOpened() {
    try (SequentialPartitions sequentially = of(3)) {
      int partitions = 0;
      while (sequentially.hasNext()) {
        var unused = sequentially.next();
        partitions++;
        assertThat(closed).hasSize(opened.size() - 1);
      }
      assertThat(partitions).isEqualTo(3 * PARTITIONS_OF_EACH);
    }
    assertThat(closed).containsExactly(0, 1, 2);
  }

  @Test
  void whenOneFailsHalfWayThenItIsClosedToo() {
    List<SequentialPartitions.Source> sources =
        List.of(source(0, 1, false), source(1, 1, true), source(2, 1, false));
    try (SequentialPartitions sequentially = new SequentialPartitions(sources.iterator())) {
      var unusedFirst = sequentially.next();
      var unusedSecond = sequentially.next();
      assertThatThrownBy(sequentially::hasNext).isInstanceOf(IllegalStateException.class);
    }
    assertThat(opened).containsExactly(0, 1);
    assertThat(closed).containsExactly(0, 1);
  }
}
