// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.sun.management.OperatingSystemMXBean;
import io.isolde.cluster.Distribution;
import java.lang.management.ManagementFactory;

/**
 * What the numbers depend on, without saying whose machine it is.
 *
 * @param cores shared by the nodes and the program that makes the requests
 */
public record MachineDescription(
    @JsonProperty int cores,
    @JsonProperty("memory_mb") long memoryMegabytes,
    @JsonProperty String jvm,
    @JsonProperty String cassandra) {

  /** Returns that of this one. */
  static MachineDescription ofThisMachine() {
    var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    return new MachineDescription(
        Runtime.getRuntime().availableProcessors(),
        system.getTotalMemorySize() >> 20,
        System.getProperty("java.vm.name") + " " + Runtime.version(),
        Distribution.ofSystemProperties().cassandraVersion());
  }
}
