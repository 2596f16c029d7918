// SPDX-License-Identifier: Apache-2.0
package io.isolde.config;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory is bounded as a part of the heap. */
class HeapBudgetTest {
  private static final long MIB = 1L << 20;
  private static final int BYTES_PER_ROW = 37;
  private static final int BYTES_PER_OUTCOME = 85;

  @ParameterizedTest
  @ValueSource(longs = {342, 456, 512, 911, 1024, 1821, 2048, 8192, 31 * 1024})
  void whenAllPartsAreFullThenTheGreaterHalfOfTheHeapIsLeft(long heapMegabytes) {
    HeapBudget heap = new HeapBudget(heapMegabytes * MIB);
    long oracle =
        2L * (BYTES_PER_ROW * heap.oracleRows() + BYTES_PER_OUTCOME * heap.oracleOutcomes());
    long logs = heap.waitingBytes() + 3 * heap.logFileBytes() + heap.decidedBytes();
    long others =
        heap.writeBytes() + heap.outboundBytes() + heap.versionBytes() + 2 * heap.groupQueueBytes();

    assertThat(oracle + logs + others).isLessThan(heap.heapBytes() / 2);
  }

  @Test
  void whenTheHeapIsSmallThenTheOracleRemembersLess() {
    HeapBudget heap = new HeapBudget(512 * MIB);

    IsoldeConfig config = IsoldeYaml.parse("", heap);

    assertThat(config.oracle().maxRows()).isEqualTo(262_144);
    assertThat(config.oracle().maxOutcomes()).isEqualTo(65_536);
  }

  @Test
  void whenTheHeapIsLargeThenTheOracleRemembersAMillionRows() {
    IsoldeConfig config = IsoldeYaml.parse("", new HeapBudget(2048 * MIB));

    assertThat(config.oracle().maxRows()).isEqualTo(1_000_000);
    assertThat(config.oracle().maxOutcomes()).isEqualTo(250_000);
  }

  @Test
  void whenTheOperatorSaysHowMuchIsRememberedThenThatCounts() {
    IsoldeConfig config = IsoldeYaml.parse("oracle_max_rows: 500000", new HeapBudget(512 * MIB));

    assertThat(config.oracle().maxRows()).isEqualTo(500_000);
  }

  @ParameterizedTest
  @CsvSource({"512, 500", "700, 720", "1024, 1000", "2048, 2000"})
  void whenHeapsDifferALittleThenTheOraclesOfAllMembersRememberTheSame(
      long megabytes, long otherMegabytes) {
    HeapBudget one = new HeapBudget(megabytes * MIB);
    HeapBudget other = new HeapBudget(otherMegabytes * MIB);

    assertThat(one.oracleRows()).isEqualTo(other.oracleRows());
    assertThat(one.oracleOutcomes()).isEqualTo(other.oracleOutcomes());
  }
}
