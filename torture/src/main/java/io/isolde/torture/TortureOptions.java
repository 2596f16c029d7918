// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What to do to which cluster.
 *
 * @param duration how long epochs are begun; 30 minutes show something, one minute little
 * @param seed of the plan of workloads and faults
 * @param nodes of the cluster, 3 or more: below that there is no quorum without one
 * @param clients that run transactions at the same time; too many, and they wait for the processor
 *     rather than for the faults
 * @param faults what may happen; empty for calm
 * @param heapMegabytes of each node
 * @param workload what clients do
 * @param commitLogSync of Cassandra's own commit log
 */
public record TortureOptions(
    Duration duration,
    long seed,
    int nodes,
    int clients,
    List<FaultKind> faults,
    int heapMegabytes,
    WorkloadKind workload,
    CommitLogSync commitLogSync) {
  public TortureOptions {
    require(
        duration.compareTo(Duration.ofSeconds(1)) >= 0, "The torture takes a second at the least.");
    require(nodes >= 3 && nodes <= 9, "A cluster to torture has 3 to 9 nodes, not " + nodes + ".");
    require(clients >= 1 && clients <= 64, "There are 1 to 64 clients, not " + clients + ".");
    faults = List.copyOf(faults);
  }

  /** Whether it takes a network whose parts can be cut off. */
  boolean needsNetwork() {
    return workload != WorkloadKind.READS && faults.stream().anyMatch(Cut::isMeantBy);
  }

  /** The options of the command line that mean the same. */
  public List<String> toArguments() {
    List<String> arguments = new ArrayList<>();
    arguments.addAll(List.of("--workload", workload.toString()));
    arguments.addAll(List.of("--minutes", Long.toString(duration.toMinutes())));
    arguments.addAll(List.of("--seed", Long.toString(seed)));
    arguments.addAll(List.of("--nodes", Integer.toString(nodes)));
    arguments.addAll(List.of("--clients", Integer.toString(clients)));
    arguments.addAll(List.of("--heap", Integer.toString(heapMegabytes)));
    arguments.addAll(List.of("--commitlog-sync", commitLogSync.toString()));
    arguments.addAll(
        List.of("--faults", String.join(",", faults.stream().map(FaultKind::name).toList())));
    return arguments;
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new IllegalArgumentException(otherwise);
    }
  }
}
