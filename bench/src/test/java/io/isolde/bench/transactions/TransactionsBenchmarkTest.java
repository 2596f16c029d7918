// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.transactions;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.bench.kit.Ratio;
import org.junit.jupiter.api.Test;

class TransactionsBenchmarkTest {

  @Test
  void whenThereAreSoManyNodesThenTheNamesOfRatiosSaySo() {
    assertThat(TransactionsBenchmark.ratios("_3n"))
        .allSatisfy(ratio -> assertThat(ratio.key()).contains("_3n"))
        .contains(
            new Ratio("transfer_vs_plain_3n_at_64", "transfer_3n_at_64", "plain_transfer_3n_at_64"))
        .contains(new Ratio("transfer_vs_scalardb_3n", "transfer_3n", "scalardb_transfer_3n"))
        .contains(new Ratio("transfer_vs_accord_3n", "transfer_3n", "accord_transfer_3n"));
  }
}
