// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import io.isolde.cluster.ClusterException.Reason;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/** What the machine must have before nodes start: free ports and free memory. */
final class Machine {

  /** What a node takes besides its heap: code, threads, network buffers, caches. */
  static final int MEGABYTES_BESIDES_HEAP = 500;

  private static final Path MEMINFO = Path.of("/proc/meminfo");

  private Machine() {}

  /** Refuses a node one of whose ports is in use. */
  static void requireFreePorts(NodeSpec spec) {
    if (!spec.networkNamespace().isEmpty()) {
      return;
    }
    requireFreePort(spec.address(), spec.nativePort(), "CQL");
    requireFreePort(spec.address(), spec.storagePort(), "the other nodes");
    requireFreePort(spec.address(), spec.jmxPort(), "JMX");
  }

  private static void requireFreePort(String address, int port, String purpose) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(address, port));
    } catch (IOException e) {
      throw new ClusterException(
          Reason.PORT_TAKEN,
          "A node can't listen on %s:%d for %s: %s. Stop what listens there, or choose another address or port."
              .formatted(address, port, purpose, e.getMessage()),
          e);
    }
  }

  /** Refuses nodes that would not fit into the memory that is free now. */
  static void requireMemory(List<NodeSpec> nodes) {
    if (!Files.isReadable(MEMINFO)) {
      return;
    }
    OptionalLong available = availableMegabytes(NodeFolder.readText(MEMINFO));
    if (available.isPresent()) {
      requireMemory(nodes, available.getAsLong());
    }
  }

  static void requireMemory(List<NodeSpec> nodes, long availableMegabytes) {
    long needed =
        nodes.stream().mapToLong(node -> node.heapMegabytes() + MEGABYTES_BESIDES_HEAP).sum();
    if (needed > availableMegabytes) {
      throw new ClusterException(
          Reason.NOT_ENOUGH_MEMORY,
          "Starting %d node(s) takes about %d MB (the heap and %d MB besides, each), and %d MB are free. Stop other programs, or choose fewer nodes or a smaller heap."
              .formatted(nodes.size(), needed, MEGABYTES_BESIDES_HEAP, availableMegabytes));
    }
  }

  /** Returns what the kernel thinks can be had without swapping, from its report in kB. */
  static OptionalLong availableMegabytes(String meminfo) {
    return meminfo
        .lines()
        .filter(line -> line.startsWith("MemAvailable:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1024)
        .findFirst();
  }
}
