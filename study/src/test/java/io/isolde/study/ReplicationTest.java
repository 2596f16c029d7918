// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.cluster.ToolException;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReplicationTest {
  @Test
  void whenAClusterNamesItsDatacenterThenTheReplicasAreThere() {
    assertThat(Replication.over(Map.of("datacenter1", 8)))
        .isEqualTo("{'class': 'NetworkTopologyStrategy', 'datacenter1': 3}");
  }

  @Test
  void whenThereAreSeveralDatacentersThenNoneHasMoreReplicasThanNodes() {
    assertThat(Replication.over(Map.of("eu", 1, "us", 5))).contains("'eu': 1, 'us': 2");
    assertThat(Replication.over(Map.of("eu", 4, "us", 4))).contains("'eu': 2, 'us': 1");
    assertThat(Replication.over(Map.of("a", 2, "b", 2, "c", 2, "d", 2)))
        .contains("'a': 1, 'b': 1, 'c': 1}");
  }

  @Test
  void whenThereAreFewerNodesThanReplicasThenTheStudyIsRefused() {
    assertThatThrownBy(() -> Replication.over(Map.of("datacenter1", 2)))
        .isInstanceOf(ToolException.class)
        .hasMessage("A study needs at least 3 nodes; the cluster has 2.");
  }
}
