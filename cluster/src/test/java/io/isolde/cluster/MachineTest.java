// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.cluster.ClusterException.Reason;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class MachineTest {

  @Test
  void whenTheKernelReportsMemoryThenWhatIsAvailableCounts() {
    String meminfo = "MemTotal:  16000000 kB\nMemFree: 10 kB\nMemAvailable:    2048000 kB\n";
    assertThat(Machine.availableMegabytes(meminfo)).hasValue(2000);
    assertThat(Machine.availableMegabytes("MemTotal: 1 kB\n")).isEmpty();
  }

  @Test
  void whenMemoryIsShortThenTheErrorSaysHowMuchIsNeededAndFree() {
    List<NodeSpec> three = Collections.nCopies(3, NodeSpec.standard());
    long needed = 3L * (512 + Machine.MEGABYTES_BESIDES_HEAP);
    assertThatCode(() -> Machine.requireMemory(three, needed)).doesNotThrowAnyException();
    assertThatThrownBy(() -> Machine.requireMemory(three, needed - 1))
        .hasMessageContaining(needed + " MB")
        .hasMessageContaining((needed - 1) + " MB are free")
        .isInstanceOfSatisfying(
            ClusterException.class,
            e -> assertThat(e.reason()).isEqualTo(Reason.NOT_ENOUGH_MEMORY));
  }

  @Test
  void whenAPortIsTakenThenTheErrorNamesItAndItsPurpose() throws IOException {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.23"))) {
      NodeSpec spec =
          NodeSpec.standard().withAddress("127.0.0.23").withJmxPort(other.getLocalPort());
      assertThatThrownBy(() -> Machine.requireFreePorts(spec))
          .hasMessageContaining("127.0.0.23:" + other.getLocalPort() + " for JMX")
          .isInstanceOfSatisfying(
              ClusterException.class, e -> assertThat(e.reason()).isEqualTo(Reason.PORT_TAKEN));
    }
  }
}
