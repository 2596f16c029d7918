// SPDX-License-Identifier: Apache-2.0
package io.isolde.client.routing;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HedgeBudgetTest {
  private final HedgeBudget budget = new HedgeBudget();

  @Test
  void whenAllRequestsAreSlowThenAFewAreHedgedAndThenOneInTwenty() {
    int hedged = 0;
    for (int i = 0; i < 100_000; i++) {
      budget.earn();
      if (budget.isLeft()) {
        budget.spend();
        hedged++;
      }
    }
    assertThat(hedged).isBetween(5_000, 5_000 + HedgeBudget.MAX_HEDGES);
  }

  @Test
  void whenManyWereSentAtOnceThenTheDebtIsBoundedAndPaidBack() {
    for (int i = 0; i < 100_000; i++) {
      budget.spend();
    }
    int requests = 0;
    while (!budget.isLeft()) {
      budget.earn();
      requests++;
    }
    assertThat(requests).isEqualTo((HedgeBudget.MAX_HEDGES + 1) * 100 / HedgeBudget.PERCENT);
  }
}
