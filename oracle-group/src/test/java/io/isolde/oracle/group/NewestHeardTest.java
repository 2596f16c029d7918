// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NewestHeardTest {
  @Test
  void whenNothingWasHeardThenNothingIsKnown() {
    assertThat(NewestHeard.nothing().askedAfter(Long.MIN_VALUE)).isEmpty();
    assertThat(NewestHeard.nothing().timestamp()).isZero();
  }

  @Test
  void whenAnswersComeInAnotherOrderThenTheNewestCounts() {
    NewestHeard heard = NewestHeard.nothing().and(40, -5, true).and(30, -9, true);
    assertThat(heard.timestamp()).isEqualTo(40);
    assertThat(heard.askedAfter(-6)).hasValue(40);
    assertThat(heard.askedAfter(-5)).as("it may have been given out since").isEmpty();
    assertThat(heard.and(40, 3, true).askedAfter(2)).hasValue(40);
  }

  @Test
  void whenWhoAnswersMayHaveBeenReplacedThenOthersMayHaveGivenOutMore() {
    NewestHeard heard = NewestHeard.nothing().and(40, 5, false);
    assertThat(heard.timestamp()).isEqualTo(40);
    assertThat(heard.askedAfter(4)).isEmpty();
    assertThat(heard.and(50, 7, true).and(60, 9, false).askedAfter(6)).hasValue(60);
    assertThat(heard.and(50, 7, true).and(60, 9, false).askedAfter(8)).isEmpty();
  }
}
