// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What becomes of the options that tools give. */
class StrongByNameTest {
  private static final String SIMPLE = "SimpleStrategy";
  private static final String LONG = "org.apache.cassandra.locator.NetworkTopologyStrategy";
  private static final String BY_DATACENTER = "NetworkTopologyStrategy";

  private static Map<String, String> strong(Map<String, String> given) {
    return StrongByName.strong(given, List.of("east", "west"), 2).orElseThrow();
  }

  private static KeyspaceOptions parsed(Map<String, String> given) {
    return KeyspaceOptions.parse(strong(given));
  }

  @Test
  void whenItIsSimpleThenTheNumberIsOfAllReplicas() {
    KeyspaceOptions options = parsed(Map.of("class", SIMPLE, "replication_factor", "3"));
    assertThat(options.replicas().all()).isEqualTo(3);
    assertThat(options.replicas().byDatacenter()).isEmpty();
    assertThat(parsed(Map.of("class", SIMPLE)).replicas().all()).as("by default").isEqualTo(2);
  }

  @Test
  void whenItIsByDatacenterThenEachHasItsNumber() {
    Map<String, String> given = Map.of("class", LONG, "east", "3", "west", "0");
    assertThat(parsed(given).replicas().byDatacenter()).isEqualTo(Map.of("east", 3));
    Map<String, String> both = Map.of("class", BY_DATACENTER, "east", "3", "west", "2");
    assertThat(parsed(both).replicas().all()).isEqualTo(5);
  }

  @Test
  void whenOneNumberIsForAllDatacentersThenThoseThatAreNamedHaveTheirs() {
    Map<String, String> given =
        Map.of("class", BY_DATACENTER, "replication_factor", "3", "west", "1");
    assertThat(parsed(given).replicas().byDatacenter()).isEqualTo(Map.of("east", 3, "west", 1));
    assertThat(parsed(Map.of("class", BY_DATACENTER)).replicas().byDatacenter())
        .as("by default")
        .isEqualTo(Map.of("east", 2, "west", 2));
  }

  @ParameterizedTest
  @CsvSource({"LocalStrategy", "EverywhereStrategy", "io.isolde.replication.ReplicatedLogStrategy"})
  void whenItIsAnotherClassThenItStaysAsItIs(String name) {
    Map<String, String> given = Map.of("class", name, "replication_factor", "3");
    assertThat(StrongByName.strong(given, List.of("east"), 1)).isEmpty();
  }
}
