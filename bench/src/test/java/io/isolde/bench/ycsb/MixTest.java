// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import site.ycsb.workloads.CoreWorkload;

class MixTest {
  private static final int ROWS = 1000;
  private static final int ROW_BYTES = 1024;
  private static final int OPERATIONS = 4000;

  /** Of 4,000 operations a share of a half has a standard deviation of 0.008. */
  private static final double CHANCE = 0.05;

  /** Rows in memory that count what is done to them. */
  private static final class CountingRows implements YcsbDb.Rows {
    final Map<String, Map<String, String>> rows = new TreeMap<>();
    int reads;
    int scans;
    int longestScan;
    int inserts;
    final List<Update> updates = new ArrayList<>();
    final List<Integer> together = new ArrayList<>();

    @Override
    public Map<String, String> read(String key) {
      reads++;
      return rows.getOrDefault(key, Map.of());
    }

    @Override
    public List<Map<String, String>> scan(String firstKey, int count) {
      scans++;
      longestScan = Math.max(longestScan, count);
      return rows.containsKey(firstKey) ? List.of(rows.get(firstKey)) : List.of();
    }

    @Override
    public void update(Update update) {
      assertThat(rows).containsKey(update.key());
      updates.add(update);
    }

    @Override
    public void updateAll(List<Update> all) {
      together.add(all.size());
    }

    @Override
    public void insert(String key, Map<String, String> fields) {
      inserts++;
      rows.put(key, fields);
    }
  }

  private static CountingRows loaded() {
    CountingRows rows = new CountingRows();
    CoreWorkload workload = Mix.all().get(0).workload("t", ROWS, ROW_BYTES);
    YcsbDb binding = new YcsbDb(rows);
    for (int i = 0; i < ROWS; i++) {
      assertThat(workload.doInsert(binding, null)).isTrue();
    }
    rows.inserts = 0;
    return rows;
  }

  private static CountingRows run(Mix mix) {
    CountingRows rows = loaded();
    CoreWorkload workload = mix.workload("t", ROWS, ROW_BYTES);
    YcsbDb binding = new YcsbDb(rows);
    for (int i = 0; i < OPERATIONS; i++) {
      assertThat(workload.doTransaction(binding, null)).isTrue();
    }
    return rows;
  }

  @Test
  void whenARowIsLoadedThenItHasTenFieldsOfTheSizeThatIsAskedFor() {
    CountingRows rows = loaded();
    assertThat(rows.rows).hasSize(ROWS);
    assertThat(rows.rows.values())
        .allSatisfy(
            row -> {
              assertThat(row).hasSize(Mix.FIELDS);
              assertThat(row.values()).allSatisfy(value -> assertThat(value).hasSize(102));
            });
  }

  @Test
  void whenAMixRunsThenEachOperationHasItsShare() {
    for (Mix mix : Mix.all()) {
      CountingRows seen = run(mix);
      assertShare(mix, seen.reads, mix.reads() + mix.readUpdates());
      assertShare(mix, seen.updates.size(), mix.updates() + mix.readUpdates());
      assertShare(mix, seen.together.size(), mix.multiUpdates());
      assertShare(mix, seen.inserts, mix.inserts());
      assertShare(mix, seen.scans, mix.scans());
    }
  }

  private static void assertShare(Mix mix, int times, double share) {
    assertThat((double) times / OPERATIONS).as(mix.toString()).isEqualTo(share, within(CHANCE));
  }

  @Test
  void whenAMixIsListedThenItsSharesAddUpToOne() {
    assertThat(Mix.all())
        .allSatisfy(
            mix ->
                assertThat(
                        mix.reads()
                            + mix.updates()
                            + mix.multiUpdates()
                            + mix.inserts()
                            + mix.scans()
                            + mix.readUpdates())
                    .isEqualTo(1, within(1e-9)));
  }

  @Test
  void whenSeveralRowsAreUpdatedThenTheyAreTen() {
    assertThat(run(Mix.all().get(0)).together).isNotEmpty().containsOnly(10);
  }

  @Test
  void whenARowIsUpdatedThenOneFieldIs() {
    assertThat(run(Mix.all().get(1)).updates)
        .isNotEmpty()
        .allSatisfy(update -> assertThat(update.fields()).hasSize(1));
  }

  @Test
  void whenRowsAreScannedThenAtMostAHundredAre() {
    assertThat(run(Mix.all().get(5)).longestScan).isBetween(50, 100);
  }

  @Test
  void whenAnOperationFailsThenItIsNotSwallowed() {
    CoreWorkload reads = Mix.all().get(3).workload("t", ROWS, ROW_BYTES);
    YcsbDb empty = new YcsbDb(new CountingRows());
    assertThatThrownBy(() -> reads.doTransaction(empty, null))
        .hasMessageContaining("must be there");
  }
}
