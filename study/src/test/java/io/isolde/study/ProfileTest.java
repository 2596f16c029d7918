// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.cluster.ToolException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProfileTest {
  @TempDir Path folder;

  private Profile file(String distances) throws IOException {
    return Profile.of(Files.writeString(folder.resolve("distances"), distances).toString());
  }

  @Test
  void whenNoDistanceBetweenRacksIsGivenThenAllNodesAreInOneRack() throws Exception {
    Profile profile = file("rack: 12ms # datacenter: 1s\nwrites: exp 5ms\n");

    assertThat(profile.datacenters()).containsExactly("dc1");
    assertThat(profile.racks()).isEqualTo(1);
    assertThat(profile.hasRackDistance()).isTrue();
  }

  @Test
  void whenADistanceBetweenRacksIsGivenThenThereAreSeveral() throws Exception {
    assertThat(file("rack: 1ms\ndatacenter: 2ms\n").racks()).isEqualTo(3);
    assertThat(file("rack: 1ms\ndatacenter: 2ms\nelsewhere: 9ms\n").racks()).isEqualTo(2);
  }

  @Test
  void whenAPairIsGivenThenItsDatacentersAreThoseOfTheCluster() throws Exception {
    Profile profile = file("eu  us: 45ms\n");

    assertThat(profile.datacenters()).containsExactly("eu", "us");
    assertThat(profile.datacenterOf(3)).isEqualTo("us");
    assertThat(profile.racks()).isEqualTo(1);
    assertThat(profile.hasRackDistance()).isFalse();
  }

  @Test
  void whenElsewhereIsGivenThenThereIsAnElsewhereBesideThePairs() throws Exception {
    assertThat(file("elsewhere: 40ms\n").datacenters()).containsExactly("dc1", "dc2", "dc3");
    assertThat(file("elsewhere: 40ms\ndc2 dc1: 45ms\n").datacenters())
        .containsExactly("dc2", "dc1", "dc3");
  }

  @Test
  void whenTwoDatacentersHaveNoDistanceThenTheFileIsRefused() {
    assertThatThrownBy(() -> file("eu us: 45ms\nus asia: 80ms\n"))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("How far are eu and asia from each other?");
    assertThatThrownBy(() -> file("eu eu: 45ms\n")).hasMessageContaining("is one datacenter");
  }
}
