// SPDX-License-Identifier: Apache-2.0
package io.isolde.junit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class NoNodeTest {
  @Test
  void whenTheNodeRefusesItsSettingsThenTheFailureShowsItsLogAndIsNotTriedAgain() {
    TestNode node = TestNode.start(List.of("max_open_transactions: -1"));

    for (int use = 0; use < 2; use++) {
      assertThatThrownBy(node::connect)
          .isInstanceOf(NoNodeException.class)
          .hasMessageStartingWith("There is no node to test with.")
          .hasMessageContaining("ended while it was starting")
          .hasMessageContaining("max_open_transactions");
    }
    node.close();
  }

  @Test
  void whenASettingIsNotOneThenThatIsSaid() {
    assertThatThrownBy(() -> TestNode.start(List.of("transaction_max_idle")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("name: value");
  }

  @Test
  void whenProcessesTestAtTheSameTimeThenTheirNodesHaveAddressesOfTheirOwn() {
    assertThat(TestNode.address(1, 0)).isEqualTo("127.64.0.2");
    assertThat(TestNode.address(4_194_303, 129)).isEqualTo("127.65.129.2");
    assertThat(TestNode.address(253, 0)).isEqualTo("127.64.0.254");
  }
}
