// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class RingTest {

  @Test
  void whenThereAreSeveralNodesThenTheirTokensAreEvenlySpaced() {
    assertThat(Ring.token(0, 1)).isEqualTo(Long.MIN_VALUE);
    assertThat(Ring.token(1, 2)).isZero();
    assertThat(Ring.token(1, 3)).isEqualTo(-3074457345618258603L);
    assertThat(Ring.token(2, 3)).isEqualTo(3074457345618258602L);
    assertThat(Ring.token(3, 4)).isEqualTo(1L << 62);
  }

  @Test
  void whenAddressesFollowEachOtherThenTheLastByteCountsUp() {
    assertThat(Ring.address("127.0.0.1", 0)).isEqualTo("127.0.0.1");
    assertThat(Ring.address("127.0.0.9", 2)).isEqualTo("127.0.0.11");
  }

  @Test
  void whenAddressesRunOutThenTheErrorSaysWhichNodeHasNone() {
    assertThatThrownBy(() -> Ring.address("127.0.0.253", 2))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("node 3");
  }
}
