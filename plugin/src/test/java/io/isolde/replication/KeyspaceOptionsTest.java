// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.group.Layout;
import io.isolde.group.ReplicaCounts;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.cassandra.exceptions.ConfigurationException;
import org.junit.jupiter.api.Test;

class KeyspaceOptionsTest {
  private static final Layout LAYOUT =
      new Layout(
          List.of(new Layout.Group(0, List.of(new Layout.Member("a", "127.0.0.1:7000")))),
          List.of(new Layout.Range(0, 0)));

  @Test
  void whenThereIsOneNumberThenReplicasAreSpread() {
    KeyspaceOptions options = KeyspaceOptions.parse(Map.of("replication_factor", "3"));
    assertThat(options.replicas()).isEqualTo(ReplicaCounts.of(3));
  }

  @Test
  void whenDatacentersHaveNumbersThenTheSumIsStoredTooAndReadAgain() {
    Map<String, String> given =
        Map.of("class", "ReplicatedLogStrategy", "east", "3", "west", "2", "leaders", "east");
    Map<String, String> stored = KeyspaceOptions.made(given, LAYOUT);
    assertThat(stored).containsEntry("replication_factor", "5").containsEntry("east", "3");
    KeyspaceOptions options = KeyspaceOptions.parse(stored);
    assertThat(options.replicas())
        .isEqualTo(new ReplicaCounts(5, Map.of("east", 3, "west", 2), Optional.of("east")));
    assertThat(options.layout()).isEqualTo(LAYOUT);
    assertThat(options.names()).contains("east", "west", "leaders", "replication_factor");
  }

  @Test
  void whenOptionsAreWrongThenTheyAreRefusedWithTheReason() {
    refused(Map.of(), "replication_factor must be a number from 1 on, not null");
    refused(Map.of("replication_factor", "0"), "must be a number from 1 on, not 0");
    refused(
        Map.of("replication_factor", "3", "durabilty", "batch"),
        "'durabilty' is neither an option nor the name of a datacenter");
    refused(Map.of("east", "0"), "'east' is neither an option nor the name of a datacenter");
    refused(
        Map.of("east", "3", "west", "2", "replication_factor", "3"),
        "The datacenters have 5 replicas together, not 3");
  }

  /** As a node of this build reads the schema of a later one. */
  @Test
  void whenStoredOptionsHaveUnknownNamesThenTheyAreIgnored() {
    Map<String, String> given =
        Map.of("class", "ReplicatedLogStrategy", "east", "3", "west", "2", "leaders", "east");
    Map<String, String> stored = KeyspaceOptions.made(given, LAYOUT);
    stored.put("later", "on");
    assertThat(KeyspaceOptions.parse(stored).replicas())
        .isEqualTo(new ReplicaCounts(5, Map.of("east", 3, "west", 2), Optional.of("east")));
    stored.put("later", "7"); // as if it were a datacenter
    assertThat(KeyspaceOptions.parse(stored).replicas())
        .isEqualTo(new ReplicaCounts(5, Map.of(), Optional.of("east")));
    stored.remove("layout");
    refused(stored, "The datacenters have 12 replicas together, not 5");
  }

  private static void refused(Map<String, String> options, String why) {
    assertThatThrownBy(() -> KeyspaceOptions.parse(options))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining(why);
  }
}
