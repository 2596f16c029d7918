// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProgressBarTest {
  @Test
  void whenItTakesLongerThanItShouldThenThatIsSaidNowAndThen() {
    List<String> said = new ArrayList<>();
    ProgressBar bar = new ProgressBar("churn", 4, said::add);
    for (int second = 1; second <= 20; second++) {
      bar.at(second);
    }

    assertThat(said)
        .endsWith(
            "[####################] churn, 0 s left",
            "churn goes on, 5 s until now",
            "churn goes on, 20 s until now");
  }
}
